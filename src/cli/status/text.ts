import {sizeText} from '../../lib/base/index.ts'
import type {NodeSummary, Overview} from '../../lib/overview/index.ts'
import {silentRackText, type OfRack} from '../base/racks.ts'
import {endpointListText} from '../endpoint/text.ts'
import {gpuListText, leasesText} from '../gpu/text.ts'
import {paint} from '../terminal/print.ts'
import {table, type Column} from '../terminal/render.ts'
import {reservationRows} from '../rack/reservation-text.ts'
import {runListText} from '../runs/list-text.ts'

/** One screen: nodes, head, shared GPUs and leases, runs, endpoints. */
export function statusText({rack, nodes, head, runs, endpoints, shared, reservations, unknown}: Overview): string {
  const why = (part: string): string | undefined => {
    const reason = unknown.find((one) => one.part === part)
    return reason && paint.yellow(`not known: ${reason.message}`)
  }
  const headLine = `${head.state === 'running' ? paint.green(head.state) : paint.yellow(head.state)} on ${head.node}${head.url ? `, ${head.url}` : ''}`
  const hint = head.state === 'stopped' ? '   (start it with: flexrack head start)' : ''
  return [
    section(`rack ${rack}`, nodesText(nodes)),
    section('head', [`${headLine}${hint}`, ...standbyLine(head)].join('\n')),
    ...(shared.nodes.length > 0
      ? [
          section('shared GPUs', gpuListText(shared)),
          ...(shared.leases.length > 0 ? [section('leases', leasesText({leases: shared.leases, nodes: []}))] : []),
        ]
      : []),
    ...(reservations.length > 0 || why('reservations')
      ? [section('reservations', why('reservations') ?? reservationRows(reservations))]
      : []),
    section(
      'runs',
      why('runs') ??
        runListText({runs, away: null, unasked: nodes.filter((node) => !node.ok).map((node) => node.node)}),
    ),
    section(
      'endpoints',
      why('endpoints') ??
        (head.state === 'stopped' ? 'None answers while the head is stopped.' : endpointListText(endpoints)),
    ),
  ].join('\n\n')
}

/** The screens of several racks one below the other. */
export function statusOfRacksText(answers: OfRack<Overview>[]): string {
  return answers
    .map((one) => (one.ok ? statusText(one.answer) : section(`rack ${one.rack}`, silentRackText(one))))
    .join('\n\n')
}

function section(title: string, text: string): string {
  return `${paint.bold(title)}\n${text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')}`
}

function nodesText(nodes: NodeSummary[]): string {
  const hasGpus = nodes.some((node) => node.gpus > 0)
  const rows = nodes.map((node) => ({
    node: node.node,
    host: node.host,
    state: node.ok ? paint.green('ok') : node.gone ? paint.dim('gone') : paint.red(node.code ?? 'failed'),
    load: node.load === null || node.cores === null ? undefined : `${node.load.toFixed(1)} of ${node.cores}`,
    memory: node.memory ? `${sizeText(node.memory.available)} free` : undefined,
    disk: node.disk ? `${sizeText(node.disk.free)} free` : undefined,
    gpus: String(node.gpus),
  }))
  const columns: (string | Column)[] = [
    'node',
    'host',
    'state',
    {key: 'load', align: 'right'},
    {key: 'memory', align: 'right'},
    {key: 'disk', align: 'right'},
  ]
  const failed = nodes.filter((node) => !node.ok).map((node) => (node.gone ? paint.dim : paint.red)(node.message ?? ''))
  const hints = [...new Set(nodes.flatMap((node) => (node.ok || node.hint === undefined ? [] : [node.hint])))].map(
    (hint) => `${paint.cyan('try:')} ${hint}`,
  )
  return [table(rows, hasGpus ? [...columns, {key: 'gpus', align: 'right'}] : columns), ...failed, ...hints].join('\n')
}

function standbyLine({standby}: Overview['head']): string[] {
  if (!standby) return []
  const state = standby.state === 'running' ? paint.green(standby.state) : paint.yellow(standby.state)
  return [`standby ${state} on ${standby.node}${standby.url ? `, ${standby.url}` : ''}`]
}

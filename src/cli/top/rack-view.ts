import {count, sizeText} from '../../lib/base/index.ts'
import {busyShare, type Overview} from '../../lib/overview/index.ts'
import {paint} from '../terminal/print.ts'
import {panesOf} from './panes.ts'
import type {TopView} from './screen.ts'
import type {TopState} from './state.ts'

/** A rack as it is drawn. Pure. `before`: an earlier look, which tells how busy processors were since. */
export function rackView(now: Overview, before: Overview | undefined, state: TopState, at: number): TopView {
  return {
    title: `rack ${now.rack}`,
    facts: factsOf(now, before),
    notes: notesOf(now),
    panes: panesOf(now, before, at),
    state,
    at,
  }
}

function factsOf(now: Overview, before: Overview | undefined): string[] {
  const ok = now.nodes.filter((node) => node.ok)
  const cores = ok.reduce((sum, node) => sum + (node.cores ?? 0), 0)
  const shares = ok.map((node) => {
    const share = busyShare(
      node,
      before?.nodes.find((one) => one.node === node.node),
    )
    return share === null ? null : share * (node.cores ?? 0)
  })
  const busy = shares.includes(null) ? undefined : shares.reduce<number>((sum, one) => sum + (one ?? 0), 0)
  const memory = ok.reduce((sum, node) => sum + (node.memory?.total ?? 0), 0)
  const used = ok.reduce((sum, node) => sum + (node.memory ? node.memory.total - node.memory.available : 0), 0)
  const {devices, leases} = now.shared
  return [
    `${ok.length} of ${count(now.nodes.length, 'node')}`,
    `${busy === undefined ? '' : `${busy.toFixed(1)} of `}${count(cores, 'core')}${busy === undefined ? '' : ' busy'}`,
    `${sizeText(used)} of ${sizeText(memory)}`,
    ...(devices.length > 0
      ? [
          `${devices.filter((one) => one.whole || one.holders.length > 0).length} of ${count(devices.length, 'GPU')} leased`,
          count(leases.length, 'lease'),
        ]
      : []),
    `head ${now.head.state}`,
  ]
}

function notesOf({nodes, unknown}: Overview): string[] {
  return [
    ...nodes.filter((node) => !node.ok && !node.gone).map((node) => paint.red(`${node.node}: ${node.message ?? ''}`)),
    ...unknown.map((one) => paint.yellow(`${one.part} not known: ${one.message}`)),
  ]
}

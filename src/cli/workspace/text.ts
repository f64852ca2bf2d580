import {count, sizeText} from '../../lib/base/index.ts'
import type {Ended, EnvironmentsRemoved, ForwardEvent, PlacedWorkspace} from '../../lib/workspace/index.ts'
import {ago, duration, fields, table} from '../terminal/render.ts'

/** What `workspace up` and `workspace sync` answer. */
export interface UpAnswer {
  project: string
  /** Milliseconds. */
  took: number
  nodes: {
    node: string
    codePath: string
    changed: number
    removed: number
    /** Bytes that travelled. */
    bytes: number
    environment?: {hash: string; path: string; built: boolean}
  }[]
}

export function upText(answer: UpAnswer): string {
  const rows = answer.nodes.map((one) => ({
    node: one.node,
    code: codeText(one),
    environment: one.environment && `${one.environment.hash} ${one.environment.built ? 'built' : 'was there'}`,
    folder: one.codePath,
  }))
  const columns = ['node', 'code', ...(rows.some((row) => row.environment) ? ['environment'] : []), 'folder']
  return `${table(rows, columns)}\n\nThe workspace ${answer.project} is up (${duration(answer.took)}).`
}

function codeText({changed, removed, bytes: size}: UpAnswer['nodes'][number]): string {
  const parts = [
    ...(changed > 0 ? [`${count(changed, 'file')} changed`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ]
  return parts.length === 0 ? 'was the same' : `${parts.join(', ')} (${sizeText(size)})`
}

export function workspacesText(all: PlacedWorkspace[]): string {
  if (all.length === 0) return 'There is no workspace. Make one with: flexrack workspace up'
  return table(
    all.map((one) => ({
      project: one.project,
      node: one.node,
      files: one.files === null ? undefined : String(one.files),
      synced: one.syncedAt ? ago(one.syncedAt) : undefined,
      by: one.owner ?? undefined,
      environment: one.environment ? `${one.environment.hash}${one.environment.ready ? '' : ' (gone)'}` : undefined,
      image: one.image?.ref,
      processes: String(one.processes.length),
    })),
    [
      'project',
      'node',
      {key: 'files', align: 'right'},
      'synced',
      'by',
      'environment',
      ...(all.some((one) => one.image) ? ['image'] : []),
      {key: 'processes', align: 'right'},
    ],
  )
}

export function workspaceText(all: PlacedWorkspace[]): string {
  return all
    .map((one) =>
      fields([
        ['workspace', `${one.project} on ${one.node}`],
        ['code', one.code],
        ['files', one.files ?? undefined],
        ['synced', one.syncedAt ? `${ago(one.syncedAt)} from ${one.source} by ${one.owner}` : 'never'],
        [
          'environment',
          one.environment
            ? `${one.environment.path} (Python ${one.environment.python})${one.environment.ready ? '' : ', gone'}`
            : 'none',
        ],
        [
          'processes',
          one.processes
            .map((process) => `${process.pid}  ${process.run ? `[run ${process.run}] ` : ''}${process.command}`)
            .join('\n') || 'none',
        ],
      ]),
    )
    .join('\n\n')
}

export type EndAnswer = (Ended | EnvironmentsRemoved)[]

export function endText(answer: EndAnswer): string {
  if (answer.length === 0) return 'There was nothing to end or remove.'
  return answer
    .map((one) =>
      'project' in one
        ? endedText(one)
        : `${one.node}: ${count(one.removed.length, 'environment')} removed (${sizeText(one.bytes)})`,
    )
    .join('\n')
}

function endedText(one: Ended): string {
  const parts = [
    ...(one.ended.length > 0 ? [`${count(one.ended.length, 'process', 'processes')} ended`] : []),
    ...(one.survived && one.survived.length > 0 ? [`still alive: ${one.survived.join(', ')}`] : []),
    ...(one.removed ? [`${one.removed} removed (${sizeText(one.bytes ?? 0)})`] : []),
  ]
  return `${one.node}: ${parts.join(', ') || 'nothing to do'}`
}

export function forwardText(event: ForwardEvent): string {
  switch (event.event) {
    case 'open':
      return `127.0.0.1:${event.localPort} -> ${event.node}:${'remoteSocket' in event ? event.remoteSocket : event.remotePort}`
    case 'lost':
      return `the connection to ${event.node} is lost`
    case 'retry':
      return `${event.node} is not connected again: ${event.reason}; next attempt in ${event.seconds} s`
    case 'back':
      return `the connection to ${event.node} is back, at the same ports, after ${event.gapSeconds} s`
  }
}

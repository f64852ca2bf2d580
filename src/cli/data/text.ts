import {count, sizeText} from '../../lib/base/index.ts'
import type {Added, Pushed} from '../../lib/data/index.ts'
import {ago, table} from '../terminal/render.ts'

/** A version, here or on a node. */
export interface ShownVersion {
  name: string
  digest: string
  /** ISO 8601: when it was added; null where this machine does not have it. */
  at: string | null
  source: string | null
  files: number
  bytes: number
  /** Nodes that have all of it; empty where none was asked (--on). */
  nodes: string[]
  /** Runs that are not over and have it. */
  runs: string[]
}

/** What `data verify` found at one place. */
export interface Verified {
  /** null: this machine. */
  node: string | null
  name: string
  digest: string
  files: number
  bytes: number
  /** Paths whose content is not what it was. */
  bad: string[]
}

/** What `data remove` did at one place. */
export interface RemovedData {
  /** null: this machine. */
  node: string | null
  name: string
  digest: string
  removed: boolean
  /** Bytes that are free now. */
  bytes: number
}

const short = (digest: string): string => digest.slice(0, 12)

export function addedText(added: Added): string {
  const what = `${added.name}@${short(added.digest)}: ${count(added.files, 'file')}, ${sizeText(added.bytes)}`
  return added.same ? `${what}; nothing has changed.` : `${what}, of which ${sizeText(added.newBytes)} are new.`
}

export function versionsText(all: ShownVersion[]): string {
  if (all.length === 0) return 'No data sets yet. Add one: flexrack data add FOLDER NAME'
  return table(
    all.map((one) => ({
      version: `${one.name}@${short(one.digest)}`,
      added: one.at === null ? 'not here' : ago(one.at),
      files: String(one.files),
      size: sizeText(one.bytes),
      nodes: one.nodes.join(', '),
      runs: one.runs.join(', '),
      from: one.source ?? undefined,
    })),
    [
      'version',
      'added',
      {key: 'files', align: 'right'},
      {key: 'size', align: 'right'},
      'nodes',
      'runs',
      {key: 'from', spare: true},
    ],
  )
}

export function pushedText(pushed: Pushed[]): string {
  return table(
    pushed.map((one) => ({
      node: one.node,
      version: `${one.name}@${short(one.digest)}`,
      came:
        one.sent === 0 && one.evicted.length === 0
          ? 'was there'
          : `${sizeText(one.sent)}${one.from === null ? '' : ` from ${one.from}`}`,
      'gave way': one.evicted.map(short).join(', '),
    })),
    ['node', 'version', 'came', ...(pushed.some((one) => one.evicted.length > 0) ? ['gave way'] : [])],
  )
}

export function verifiedText(all: Verified[]): string {
  return all
    .map((one) => {
      const where = `${one.name}@${short(one.digest)} ${one.node === null ? 'here' : `on ${one.node}`}`
      return one.bad.length === 0
        ? `${where}: ${count(one.files, 'file')} as they were (${sizeText(one.bytes)})`
        : `${where}: ${one.bad.length} of ${count(one.files, 'file')} damaged\n${one.bad.map((path) => `  ${path}`).join('\n')}`
    })
    .join('\n')
}

export function removedText(all: RemovedData[]): string {
  return all
    .map(
      (one) =>
        `${one.name}@${short(one.digest)} ${one.node === null ? 'here' : `on ${one.node}`}: ${one.removed ? `removed, ${sizeText(one.bytes)} free` : 'was not there'}`,
    )
    .join('\n')
}

// The node itself: what flexrack put there, and its removal. Generated from protocol/node.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'
import type {NodeFacts} from './facts.ts'
import type {RunningProcess} from './workspace.ts'

export interface Nothing {
}

export interface UninstallEntry {
  path: string
  kind: string
  at: string
  inside: boolean
  kept: string | null
}

export interface NodeInstalled {
  root: string
  entries: UninstallEntry[]
  alive: RunningProcess[]
  /** What goes besides, in words: what starts services again after a reboot. */
  outside: string[]
}

export interface UninstallOrder {
  force?: boolean
  grace?: number
}

export interface PathLeft {
  path: string
  why: string
}

export interface Uninstalled {
  removed: string[]
  left: PathLeft[]
  ended: number
}

export interface UninstallProgress {
  event: 'progress'
  detail: string
}

export interface FactsQuestion {
  peers?: Record<string, string>
  ports?: [string, number][]
  seconds?: number
}

export interface NodeVerbs {
  /** What the node is and has. */
  'node.facts': {input: FactsQuestion | null; result: NodeFacts; event: never}
  /** What flexrack put there, as far as it is there. */
  'node.installed': {input: Nothing | null; result: NodeInstalled; event: never}
  /** Removes all of that. */
  'node.uninstall': {input: UninstallOrder; result: Uninstalled; event: UninstallProgress | WaitingEvent}
}

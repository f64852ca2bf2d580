import type {NodeRun} from '../protocol/index.ts'

/** A run that is to be found: its id, and the nodes that know it, in the order of its gang. */
export interface FoundRun {
  run: string
  nodes: NodeRun[]
  /** Nodes that were asked and have nothing of it: it was never started there, so nobody there can lead it. */
  absent?: string[]
  /** Nodes of it that the rack has no more: nobody waits for their word. */
  removed?: string[]
  /** Nodes that never answered their start: they may have nothing of it. */
  unheard?: string[]
}

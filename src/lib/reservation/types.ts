import type {Wants} from '../protocol/index.ts'
/** What is reserved on all nodes at once. */
export interface GangWish {
  /** The run's id: the name of the lease on every node. */
  lease: string
  project: string
  wants: Wants
  /** Instead of that, by node. */
  on?: ReadonlyMap<string, Wants>
}

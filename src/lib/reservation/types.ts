import type {ClaimPart, Wants} from '../protocol/index.ts'

/** Who decides whose turn it is, where the nodes alone do not. */
export interface Turns {
  /** All nodes are there to be had: whether the run may have them. Errors: QUOTA. */
  granted(parts: ClaimPart[]): Promise<{go: boolean; why: string | null}>
  /** In line: whether it is its turn, and whom it passes. `seen`: who has what of its nodes. */
  turn(
    parts: ClaimPart[],
    seen: {run: string; parts: ClaimPart[]}[],
  ): Promise<{go: boolean; passes: string[]; why: string | null}>
}

/** What is reserved on all nodes at once. */
export interface GangWish {
  /** The run's id: the name of the lease on every node. */
  lease: string
  project: string
  wants: Wants
  /** Instead of that, by node. */
  on?: ReadonlyMap<string, Wants>
}

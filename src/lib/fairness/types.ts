/** Parts of the rack: whole nodes and GPUs, by names that are the same for everybody. */
export interface Part {
  node: string
  /** Ids that are known on the whole machine. */
  gpus: readonly string[]
  /** Nobody else may be on the node. */
  exclusive: boolean
}

/** A run that has what it wanted. Times in seconds since 1970. */
export interface Running {
  run: string
  parts: readonly Part[]
  /** When it ends at the latest, as it declared; null: nobody knows. */
  ends: number | null
}

/** A run that waits for all of what it wants. */
export interface Waiting {
  run: string
  user: string
  parts: readonly Part[]
  /** When it came. */
  since: number
  /** Higher ones go first among the runs of their project. */
  priority: number
  /** Runs without one are of one project together. */
  project?: string
  /** Its priority counts among the runs of all projects. */
  rack?: boolean
  /** Seconds that it takes at most; null: it declared none. */
  limit: number | null
}

export interface QueueFacts {
  now: number
  running: readonly Running[]
  waiting: readonly Waiting[]
  /** GPU hours that users had of late, the older the less: see decayed. */
  used: Readonly<Record<string, number>>
}

export interface Turn {
  run: string
  /** It may start now. */
  starts: boolean
  /** Position in line, from 1. */
  position: number
  /** When it starts at the latest, as far as that was declared; null: nobody knows. */
  by: number | null
  /** Runs that have what it wants. */
  holders: string[]
  /** Runs before it in line that want the same. */
  before: string[]
  /**
   * Runs that wait for the same, where it may start: those before it that it delays not at all, and those behind it, which
   * nodes may have known for longer.
   */
  passes: string[]
}

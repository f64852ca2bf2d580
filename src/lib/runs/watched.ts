/** Ranks that made no progress, as the run's leader saw it (node/flexrack_node/watch/hang.py). */
export interface Hang {
  number: number
  attempt: number
  /** Seconds since 1970. */
  at: number
  action: 'report' | 'restart' | 'stop'
  /** One sentence: who waits in what, and who has not come. */
  message: string
  /** Without progress until then. */
  seconds: number
  /** Who keeps the others waiting. */
  suspects: {rank: number; node: string; why: string}[]
  /** The most telling lines of stacks, at most three. */
  lines: string[]
  /** Nodes that told nothing. */
  silent: string[]
}

/** How fast the ranks of an attempt were (node/flexrack_node/watch/straggler.py). Times in seconds a step. */
export interface Pace {
  ranks: RankPace[]
  /** The rank that the others waited for; null where none was slower worth telling. */
  slowest: {
    rank: number
    node: string
    own: number
    /** Median of the other ranks. */
    others: number
    factor: number | null
    /** Part of each step that the others wait for it; 0 where they do not meet. */
    loss: number
    why: string
    message: string
  } | null
}

export interface RankPace {
  rank: number
  node: string
  steps: number
  /** Median. */
  step: number
  /** Median of the part outside of collectives: what differs between ranks in lock step. */
  own: number
  /** Mean waiting for data. */
  data: number
  /** Median of the part in collectives. */
  collectives: number
  /** Whether it was in collectives at all. */
  synced: boolean
  /** In all: first dimension of the batches for training; 0 where that is not known. */
  samples: number
  /** Mean of being ready without a CPU. */
  cpu_wait: number
  /** Mean of being held back by a CPU limit. */
  throttled: number
}

/** Ranks that made no progress, as the run's leader saw it (node/flexrack_node/hang.py). */
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

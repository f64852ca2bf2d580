// Parts of logs of ranks, as the rack's page shows them. Generated from protocol/logs.json by `npm run protocol`.

/** Which part of a rank's log: from an offset on, where a text or a failure is first found, or else its end. */
export interface LogQuestion {
  run: string
  /** Null: the newest. */
  attempt?: number | null
  /** Null: the lowest that is on the node. */
  rank?: number | null
  /** Bytes. */
  from?: number | null
  search?: string | null
  failure?: boolean
  /** Looked for from this offset on. */
  after?: number
}

/** A part of a rank's log: whole lines. Offsets in bytes. */
export interface LogWindow {
  rank: number
  attempt: number
  /** That have a log on this node in that attempt. */
  ranks: number[]
  attempts: number[]
  from: number
  to: number
  size: number
  text: string
  /** Where the line begins that was looked for. */
  found: number | null
  /** There is more, or may come more. */
  live: boolean
}

/** Which part of several ranks' logs. Places are times of the sampler's looks, in milliseconds since 1970; 0 is before all. Without a place their end. */
export interface MergedQuestion {
  run: string
  /** Null: the newest. */
  attempt?: number | null
  /** Null: all that are on the node. */
  ranks?: number[] | null
  /** What came after it. */
  from?: number | null
  /** What came up to it. */
  before?: number | null
  search?: string | null
  failure?: boolean
  /** Looked for after this place. */
  after?: number
  /** Lines with this text alone. */
  only?: string | null
}

/** Whole lines that a rank wrote between two looks; `t`: the second one. */
export interface MergedPiece {
  t: number
  rank: number
  text: string
}

/** A part of several ranks' logs, by time and rank. Places as in the question; `from` is before all of it, and all up to `to` is in it. */
export interface MergedLog {
  attempt: number
  /** That have a log on this node in that attempt. */
  ranks: number[]
  attempts: number[]
  from: number
  to: number
  /** Bytes of all these logs. */
  size: number
  pieces: MergedPiece[]
  /** The place of what was looked for. */
  found: number | null
  /** There is more, or may come more. */
  live: boolean
}

export interface LogsVerbs {
  /** A part of one rank's log. */
  'run.window': {input: LogQuestion; result: LogWindow; event: never}
  /** A part of several ranks' logs, by time. */
  'run.merged': {input: MergedQuestion; result: MergedLog; event: never}
}

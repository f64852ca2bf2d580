// What the profiles of a run's ranks tell. Generated from protocol/profile.json by `npm run protocol`.

/** All calls of an operator or kernel. Seconds; `self` is without what it called. */
export interface OperatorTime {
  name: string
  calls: number
  self: number
  total: number
}

export interface DeviceTime {
  /** Seconds in which at least one kernel or copy ran. */
  busy: number
}

/** Seconds in collectives, and the part of it in which something else was computed. */
export interface CollectiveTime {
  count: number
  seconds: number
  overlapped: number
}

/** Sums over the recorded steps. */
export interface TraceSummary {
  steps: number
  /** From the begin of the first step to the end of the last. */
  seconds: number
  /** Null: nothing ran on a device. */
  device: DeviceTime | null
  /** Seconds in the data loaders' next. */
  data_wait: number
  collectives: CollectiveTime
  /** On the CPU; those with most time of their own. */
  operators: OperatorTime[]
  /** On the device. */
  kernels: OperatorTime[]
}

/** The newest trace of a rank. */
export interface RankProfile {
  rank: number
  node: string
  attempt: number
  /** On the node; null: there is none yet. */
  path: string | null
  bytes: number
  summary: TraceSummary | null
  /** Why there is no summary. */
  note: string | null
}

export interface NodeProfile {
  wanted: {
    skip: number
    steps: number
  }
  /** Traces may still come. */
  live: boolean
  ranks: RankProfile[]
}

export interface ProfileInput {
  run: string
}

export interface TraceInput {
  run: string
  rank: number
}

export interface TraceChunk {
  event: 'chunk'
  /** Base64. */
  data: string
}

export interface TraceEnd {
  attempt: number
}

export interface ProfileVerbs {
  /** The newest profiles of the ranks, summed up. */
  'run.profile': {input: ProfileInput; result: NodeProfile; event: never}
  /** The newest trace of a rank: Chrome's format, gzip. */
  'run.trace': {input: TraceInput; result: TraceEnd; event: TraceChunk}
}

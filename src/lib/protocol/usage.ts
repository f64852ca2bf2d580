// Usage: what runs had of a node. Generated from protocol/usage.json by `npm run protocol`.

export interface UsageSince {
  since?: number
}

/** What one attempt of a run had of a node. */
export interface UsageLine {
  run: string
  project: string | null
  user: string
  node: string
  index: number
  attempt: number
  launcher: string | null
  status: string
  /** Seconds since 1970. */
  started: number
  ended: number
  gpus: number
  /** Seconds of one CPU; null where nobody measured it. */
  cpu: number | null
  /** Seconds of one GPU over which its load was measured; null or absent where nobody did. */
  gpu_seen?: number | null
  /** Of them, those in which it computed. */
  gpu_busy?: number | null
  ranks: number
}

export interface UsageReported extends UsageLine {
  open: boolean
}

export interface NodeUsage {
  account: string
  now: number
  entries: UsageReported[]
}

export interface UsageVerbs {
  /** What runs had of the node. */
  'usage.read': {input: UsageSince | null; result: NodeUsage; event: never}
}

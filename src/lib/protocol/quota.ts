// What runs have and wait for, as the head knows it, and how much of it is allowed. Generated from protocol/quota.json by `npm run protocol`.

export interface QuotaLimit {
  most: number
  /** More is told, and not refused. */
  soft?: boolean
}

/** What somebody may have together. */
export interface QuotaLimits {
  /** GPUs at once; shares of them add up. */
  gpus?: QuotaLimit
  /** GPU hours in a month (UTC). */
  gpu_hours?: QuotaLimit
  /** Runs at once. */
  runs?: QuotaLimit
  /** Notebooks at once. */
  notebooks?: QuotaLimit
  /** Endpoints at once. */
  endpoints?: QuotaLimit
  /** Model servers at once: what endpoints have, or may come to where the head chooses. */
  servers?: QuotaLimit
  /** Bytes of data sets on nodes, each copy, of what runs keep there, and of artifacts at the head. */
  disk?: QuotaLimit
}

/** What it counts for each limit. */
export interface HeldAmounts {
  notebooks?: number
  endpoints?: number
  servers?: number
  disk?: number
}

/** What somebody has beside runs. Times in milliseconds since 1970. */
export interface HeadHolding {
  user: string
  teams: string[]
  project: string
  amounts: HeldAmounts
  since: number
  /** When it ends by itself. */
  until?: number
}

export interface HeadHoldings {
  /** By kind and name: `endpoint digits`, `notebook alice node-1/digits`, `data alice node-1/pets@3fa9`, `kept alice node-1 digits/me@laptop`. */
  holdings: Record<string, HeadHolding>
}

/** By `user:NAME`, `user:*` (each user without one), `team:NAME`, `project:NAME`. */
export interface HeadQuotas {
  quotas: Record<string, QuotaLimits>
}

/** What a run has of a node. */
export interface ClaimPart {
  /** The machine and what of it the node is: the same for everybody. */
  node: string
  gpus: string[]
  exclusive: boolean
}

/** What a run has, or waits for. Times in milliseconds since 1970. */
export interface HeadClaim {
  user: string
  teams: string[]
  project: string
  parts: ClaimPart[]
  /** How many, shares added up. */
  gpus: number
  priority: number
  /** Seconds that it takes at most, as it declared. */
  limit: number | null
  state: 'waiting' | 'held'
  /** When it came. */
  since: number
  heldAt?: number
  /** When its command was heard last. */
  seenAt: number
  /** Id of the run's own token, with which the claim ends. */
  token?: string
  /** Its priority counts among the runs of all projects. */
  rack?: true
  /** What its nodes said that it has beyond this, and when that was heard: it is to end. */
  differs?: ClaimDiffers
  /** It makes room for who comes first, and goes on later. */
  preemptible?: true
  /** The run that it is to make room for. */
  yields?: string
}

export interface ClaimDiffers {
  /** Milliseconds since 1970. */
  at: number
  why: string
}

/** GPU hours that somebody had, the older the less, as they counted then. */
export interface UsedShare {
  hours: number
  at: number
}

export interface HeadClaims {
  /** By run. */
  claims: Record<string, HeadClaim>
  /** By user. */
  used: Record<string, UsedShare>
  /** Of which `hours` tell: `2026-11`. */
  month: string
  /** GPU hours of runs that are over, by the names that quotas have. */
  hours: Record<string, number>
}

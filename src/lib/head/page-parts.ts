/** Parts of logs, and idle GPUs, as the rack's page shows them. As page-types.ts: milliseconds, bytes, null for what is not known. */

/**
 * A part of one rank's log, offsets in bytes; or of several ranks' (`rank` is null), whose places are milliseconds since 1970 and
 * whose lines begin with their ranks.
 */
export interface PageLines {
  rank: number | null
  attempt: number
  /** Where it is, or the nodes. */
  node: string
  from: number
  to: number
  size: number
  text: string
  /** The run goes on, or `to` is not the end: there may be more. */
  open: boolean
  /** Ranks that have a log in this attempt. */
  ranks: number[]
  attempts: number[]
  /** Where the line that was looked for begins; null: there is none. */
  found?: number | null
}

/** Where a part of a log is looked for. */
export type LinesAt = {end: true} | {from: number} | {error: true} | {search: string; after: number}

/** Several ranks' logs: null is all ranks, all lines. */
export interface MergedWish {
  run: string
  attempt: number | null
  ranks: number[] | null
  /** Lines with this text alone. */
  only: string | null
  at: LinesAt | {before: number}
}

/** GPUs that do nothing right now, as `flexrack gpu idle` tells of them. Times in milliseconds since 1970. */
export interface PageIdleGpus {
  state: 'free' | 'leased' | 'dark'
  node: string
  gpus: number
  index: number | null
  owner: string | null
  holder: string | null
  since: number | null
  why: string
}

/** GPU hours. `seen`: of those whose load was measured, `busy`: of them those that computed; null: not measured. */
export interface PageHours {
  name: string
  runs: number
  hours: number
  seen: number | null
  busy: number | null
}

export interface PageIdle {
  idle: PageIdleGpus[]
  /** The time that the hours are of. */
  since: number
  until: number
  users: PageHours[]
  projects: PageHours[]
  /** By hour, of the last two days. */
  hours: PageHours[]
  total: PageHours
  /** Who could not be asked, and why. */
  unasked: string[]
}

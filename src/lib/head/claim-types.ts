import type {ClaimPart, HeadClaim, QuotaLimits} from '../protocol/index.ts'

/** A limit that a run would be over, or is. */
export interface Excess {
  /** `user:alice`, `team:vision`, `project:digits`. */
  of: string
  what: keyof QuotaLimits
  have: number
  more: number
  most: number
  /** It is told, and not refused. */
  soft: boolean
  /** Who has it, by user. */
  by: Record<string, number>
  /** `GPUs of team vision: 6 (alice 4, bob 2) + 4 > 8`. */
  text: string
}

/** A quota, and what of it is used; `have` is null for `user:*`, which is each user's own. */
export interface QuotaUse {
  of: string
  limits: {what: keyof QuotaLimits; most: number; soft: boolean; have: number | null; by: Record<string, number>}[]
}

/** What is counted beside runs: POST /flexrack/v1/holdings, and /outlook. `amount`: bytes of data, servers of endpoints. */
export interface HoldWish {
  /** Endpoints count with their documents: of them only the outlook is asked. */
  kind: 'notebook' | 'data' | 'endpoint'
  /** `node-1/digits`, `node-1/pets@3fa9c1`. */
  name: string
  project: string
  amount: number
  /** Milliseconds since 1970, where it ends by itself. */
  until?: number
}

/** What runs of somebody in a project keep on a node: POST /flexrack/v1/holdings/kept. */
export interface KeptWish {
  node: string
  project: string
  owner: string
  bytes: number
}

/** Several of one kind that would come together: POST /flexrack/v1/holdings/outlook. */
export type HoldOutlook = Omit<HoldWish, 'until'> & {beside?: Pick<HoldWish, 'name' | 'amount'>[]}

/** What a run asks the head for: POST /flexrack/v1/claims. */
export interface ClaimWish {
  run: string
  project: string
  parts: ClaimPart[]
  gpus: number
  priority: number
  limit: number | null
  /** It makes room for who comes first. */
  preemptible?: true
  /** Stands in line where it may not be had now. */
  wait?: boolean
  /** Who has, or waits for, what of its nodes, as they say: then the head decides whose turn it is. */
  seen?: {run: string; parts: ClaimPart[]}[]
}

export interface ClaimAnswer {
  state: HeadClaim['state']
  /** Limits that it is over: the soft ones, and while it waits all. */
  over: Excess[]
  /** Runs that wait for the same, and that it passes. */
  passes: string[]
  /** One clause, for who waits. */
  why: string | null
}

/** What a run says of itself, with its own token: POST /flexrack/v1/claims/self. */
export interface RunWord {
  /** Seconds since its newest checkpoint was written. */
  saved: number | null
  /** It has given back what it had, and waits for its turn. */
  away: boolean
  /** What its nodes have written down that it has; `leased`: GPUs of daemons, whole or in part. */
  has?: (ClaimPart & {leased: number})[]
}

export interface RunWordAnswer {
  state: HeadClaim['state']
  /** The run that it is to make room for. */
  room: string | null
  /** Of one that waited and is let in: the runs that it passes. */
  passes: string[]
  why: string | null
}

/** A limit, and what a run would come to: `GPUs of team vision: 2 (alice 2) + 4 of 8`. */
export interface QuotaSum extends Excess {
  /** It would be over it. */
  over: boolean
}

/** What the head would say to a run: POST /flexrack/v1/claims/outlook. Nothing is promised. */
export interface ClaimOutlook {
  sums: QuotaSum[]
  /** Runs that would make room for it, in the order in which they would. */
  room: RoomOffer[]
}

/** What is asked of it; `gpus` null: not known yet. */
export type OutlookWish = Pick<ClaimWish, 'project' | 'priority' | 'limit'> & {gpus: number | null}

/** A run that makes room for whoever asks. */
export interface RoomOffer {
  run: string
  user: string
  priority: number
  /** GPU seconds (node seconds without GPUs) since its newest checkpoint. */
  lost: number
}

/** A run in `runs queue`. */
export interface QueuedRun {
  run: string
  user: string
  project: string
  gpus: number
  priority: number
  /** Milliseconds since 1970. */
  since: number
  position: number
  /** When it starts at the latest, milliseconds since 1970; null: nobody knows, as not all have declared a time limit. */
  by: number | null
  why: string
}

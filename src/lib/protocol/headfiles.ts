// Files of the head, and of the machine of the command line, that outlive who wrote them: each kind, where it is, the number of its shape, and what it holds beside `schema`, that number. Words in capitals stand for names. Generated from protocol/headfiles.json by `npm run protocol`.
import type {HeadTargets} from './monitor.ts'
import type {HeadRole} from './people.ts'
import type {HeadPlace} from './standby.ts'
import type {EntryLine} from './sync.ts'

/** What is known of the files of a folder: size, mtime and ctime (ms), inode, SHA-256, by path. */
export interface DataStats {
  files: Record<string, (number | string)[]>
}

/** What the head's process is started with: ServiceConfig in src/lib/head/types.ts. */
export type HeadConfig = {
  folder: string
  version: string
  bind: string
  port: number
  python: string
} & Record<string, unknown>

/** A token that the head has given out. */
export interface HeadToken {
  kind: 'run' | 'endpoint' | 'session' | 'personal' | 'node' | 'standby' | 'joint' | 'metrics' | 'user'
  /** SHA-256 of the secret; the secret itself is never kept. */
  hash: string
  expiresAt: number
  runId?: string
  experimentId?: string
  endpoint?: string
  /** Whose key of the endpoint it is. */
  client?: string
  limits?: HeadKeyLimits
  login?: string
  /** Where a browser has logged in. */
  host?: string
  /** Of a browser: the rack's page, also to change something or only to look; absent: MLflow's pages. */
  opens?: 'page' | 'look'
  /** What its owner calls it. */
  name?: string
  createdAt?: number
  /** Whose agent it is for; of a standby: where it runs. */
  node?: string
  /** Of a standby: what others call it by. */
  names?: string[]
  /** Of a monitor: what it is told to watch. */
  targets?: HeadTargets[]
  /** Which switch over several racks it tells the decision of. */
  joint?: string
  /** Whose it is; of a run: who started it. */
  user?: string
  /** The only project that it opens; of a run: the project that it is tracked in. */
  project?: string
  /** The most that it may, whatever its user may. */
  role?: HeadRole
  /** Milliseconds since 1970, to some minutes. */
  lastUsedAt?: number
  /** Id of the token that it comes of, and with which it is revoked. */
  parent?: string
}

/** What a key of an endpoint's client may. */
export interface HeadKeyLimits {
  /** On average; as many may come at once as in a second, and one at least. */
  requestsPerSecond?: number
  /** Requests under way at once. */
  concurrency?: number
  /** Of OpenAI's API, prompts and completions together, on average; as many may come at once. */
  tokensPerMinute?: number
}

/** By their ids. */
export interface HeadTokens {
  tokens: Record<string, HeadToken>
}

/** What was changed or refused at the head. Each line has the hash of the one before, and its own at the end. */
export interface HeadAudit {
  /** 1, 2, 3 ... */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  /** Whose token it was. */
  who: string
  /** `name@machine` of who typed the command or opened the page, as that said. */
  says?: string
  login?: string
  /** `token.issue`; for a refusal of what changes nothing the route. */
  action: string
  target: string
  outcome?: string
  /** Why it was refused, or not done. */
  error?: string
  /** The same refusal came so many times more within a minute. */
  times?: number
  /** Hash of the line before. */
  before: string
}

/** What was done through the rack's page, in the log of before head.audit. */
export interface HeadAction {
  /** Milliseconds since 1970. */
  at: number
  /** `name@machine` that had opened the page, as it said; a user of the head by name. */
  owner: string
  /** Of a page; of a user, or of the admin token, the id of the token. */
  login: string
  action: 'stop' | 'rollback' | 'endNotebook'
  target: string
  outcome?: string
  /** Why it was not done. */
  error?: string
}

export interface HeadLock {
  owner: string
  fence: number
  since: number
  expiresAt: number
}

export interface HeadLocks {
  lastFence: number
  locks: Record<string, HeadLock>
}

/** An endpoint; the document is its owner's (src/lib/endpoint). */
export interface HeadEndpoint {
  revision: number
  document: Record<string, unknown>
}

/** Several endpoints that are being changed at once: what they were, null where there was none. */
export interface HeadSwitch {
  before: Record<string, HeadEndpoint | null>
}

/** A switch over several racks, as far as it is this head's: what it will have switched once that is decided. */
export interface HeadPromise {
  /** promised: not decided, as far as is known here. committed: what of `changes` is still there is to be written. */
  state: 'promised' | 'committed' | 'dropped'
  /** All that take part, by name; the first one's head decides. */
  racks: string[]
  changes: {
    name: string
    revision: number
    document: Record<string, unknown>
  }[]
  /** How the head that decides is asked; null: it is this one. */
  leader: {
    url: string
    /** PEM; null: those of the system. */
    ca: string | null
    token: string
  } | null
  /** Milliseconds since 1970: so long who commands is waited for. */
  leaseUntil: number
  /** When it was made, or decided. */
  at: number
}

/** How far an endpoint's canary has come, as the head knows it. `returned`: the judge found it worse, it gets nothing any more; `passed`: it has gone through every step. */
export interface HeadRollout {
  release: string
  /** Of its rules: with the release it says which canary it is. */
  since: string
  state: 'running' | 'returned' | 'passed'
  /** Which of the steps it is at, from 0. */
  step: number
  /** Percent of the requests that it gets now. */
  percent: number
  /** Milliseconds since 1970. */
  stepSince: number
  /** How often the judge has compared: each time it asks for stronger evidence. */
  looks: number
  /** What the judge found, one sentence. */
  verdict?: string
}

export interface HeadScalingEvent {
  /** Milliseconds since 1970. */
  at: number
  text: string
}

/** Which servers of an endpoint are to run, where the head chooses their number. */
export interface HeadScaling {
  release: string
  /** Services that are to run. */
  on: string[]
  /** How often a request found no server, and one was started for it. */
  wakes: number
  /** Newest first. */
  events: HeadScalingEvent[]
}

/** PEM. */
export interface HeadIdentity {
  key: string
  certificate: string
}

/** The rack's certificate authority. */
export interface HeadAuthority {
  current: HeadIdentity
  cross?: string
  former?: string
  gateway?: HeadIdentity
}

/** What a standby needs to serve endpoints. */
export interface HeadSnapshot {
  format: number
  version: string
  endpoints: Record<string, HeadEndpoint>
  rollouts: Record<string, HeadRollout>
  tokens: Record<string, HeadToken>
  /** PEM. */
  ca: string
}

/** What a standby was told by its head, and its certificates. */
export interface HeadFollowed {
  /** Of the token with which it was told. */
  tokenId: string
  /** Milliseconds since 1970. */
  heardAt: number
  dismissed?: boolean
  listener: HeadIdentity
  gateway: HeadIdentity
  state?: HeadSnapshot
  first?: HeadPlace
}

export interface HeadCertificate {
  identity: HeadIdentity
}

export interface BackgroundWaiting {
  since: string
  why: string
}

/** A command that goes on without its terminal. */
export interface BackgroundCommand {
  name: string
  project: string
  pid: number
  identity: string
  machine: string
  started: string
  ended: string | null
  why: string | null
  log: string
  waiting?: BackgroundWaiting
}

/** A token that opens one endpoint. */
export interface EndpointToken {
  id: string
  token: string
  expiresAt: number
  head: string
}

/** The command whose leases lie beside it, written anew while it lives. */
export interface AttachOwner {
  pid: number
  /** When the process was started. */
  identity: string
  /** Among which processes its pid means it. */
  place: string
}

/** A group of processes that was started on a node of the local rack. */
export interface LocalGroup {
  node: string
  group: number
}

export interface LocalRackNode {
  name: string
  port: number
}

/** The local rack as it should be. */
export interface KeptLocalRack {
  id: string
  nodes: LocalRackNode[]
  environments: string
  up: boolean
  maxSessions: number
}

/** Digests of a project's files, by path, with what the file looked like then. */
export interface ProjectDigests {
  files: Record<string, unknown[]>
}

/** What a project looked like when it was last synced. */
export interface ProjectBase {
  rows: EntryLine[]
}

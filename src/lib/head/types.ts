import type {HeadSuperseded} from '../protocol/index.ts'
import type {FollowConfig, FollowerStatus, FollowingStatus} from './follow-types.ts'

export type {FollowConfig, FollowerStatus, FollowingStatus} from './follow-types.ts'
export type * from './claim-types.ts'
export type * from './page-parts.ts'
export type * from './page-types.ts'
export type * from './people-types.ts'
export type * from './traffic-types.ts'

/**
 * What the head's process is started with: config.json in the head's folder, mode 0600 (a store URI may hold a
 * password).
 */
export interface ServiceConfig {
  /** The head's folder on its node, absolute: everything it keeps is below. */
  folder: string
  /** Version of flexrack that started it. */
  version: string
  /** Address the head binds. */
  bind: string
  /** Port of the head; 0: the one of the last start, or any. */
  port: number
  /** Base URL at which nodes reach the head; https://<host>:<port> where absent. */
  url?: string
  /** Name or address of the head's node for the others; the bound address where absent. */
  host?: string
  /** More names and addresses that clients call it by: of the DNS, or one that moves between heads. */
  names?: string[]
  /** The head is a standby: it follows the head there, and serves endpoints only. */
  follow?: FollowConfig
  /** Absolute path of the python of the environment that has MLflow; a standby has none. */
  python: string
  /** Backend store URI, where it is not SQLite in the folder. */
  store?: string
  /** Where artifacts go, if not to a folder of the head. */
  artifacts?: string
  /** The most bytes one artifact may have. */
  largestArtifact?: number
  /** Bytes and milliseconds other than those of service/limits/limits.ts; for tests and measurements. */
  limits?: {buffers?: number; streams?: number; floor?: number; pace?: {everyMs: number; bytes: number}}
}

export type MlflowState = 'starting' | 'ready' | 'waiting' | 'stopped'

/** Answer of GET /flexrack/v1/status. Times in milliseconds since 1970, sizes in bytes. */
export interface ServerStatus {
  version: string
  pid: number
  startedAt: number
  uptimeSeconds: number
  /** Base URL for nodes. */
  url: string
  port: number
  mlflow: {
    state: MlflowState
    version: string | null
    pid: number | null
    restarts: number
    startedAt: number | null
    lastError: string | null
  }
  store: string
  artifacts: string
  disk: {free: number; total: number}
  endpoints: number
  tokens: number
  /** Of a head that is followed: by whom. Heads of older versions do not say. */
  followers?: FollowerStatus[]
  /** Of a standby: how far it follows. */
  following?: FollowingStatus
  /** Of a head that has stepped down, as its standby was made the head: its node and base URL, and when it heard so. */
  superseded?: HeadSuperseded
}

/** The second head, in `head start` and `head status`. */
export interface StandbyStatus {
  node: string
  state: HeadStatus['state']
  url: string | null
  following?: FollowingStatus
  superseded?: HeadSuperseded
  lines?: string[]
}

/** What `head start` and `head status` answer. */
export interface HeadStatus extends Partial<Omit<ServerStatus, 'url'>> {
  rack: string
  node: string
  /**
   * `running`, `starting`, `stopped`, `failed` (it ends again and again), `unreachable` (it runs and does not answer),
   * `superseded` (it has stepped down: its standby was made the head while it was away).
   */
  state: 'running' | 'starting' | 'stopped' | 'failed' | 'unreachable' | 'superseded'
  /** Base URL at which nodes reach it. */
  url: string | null
  /** File here with the certificates to trust at that URL. */
  certificates?: string
  /** Newest lines of its log, where it does not run well. */
  lines?: string[]
  /** The second head, where the rack file names one. */
  standby?: StandbyStatus
}

/** Names in the head's folder that both sides know. */
export const HEAD_FILES = {
  config: 'config.json',
  adminToken: 'admin-token',
  listener: 'listener.json',
  mlflowLog: 'mlflow.log',
  ca: 'ca.pem',
  followToken: 'follow-token',
  followed: 'followed.json',
  former: 'former.json',
  superseded: 'superseded.json',
} as const

/** In the certificate of every head: others that the rack's authority signed for are not mistaken for it. */
export const HEAD_NAME = 'flexrack-head'

/** The same of a standby. */
export const STANDBY_NAME = 'flexrack-standby'

/** Of an endpoint's document: a release beside the active one, and what it gets of the requests. */
export interface CanaryRules {
  release: string
  /** ISO 8601: when it was put beside the active one. */
  since: string
  targets: string[]
  /** Percent of the requests that it gets, 0 to 100; with a judge one after the other, else there is one. */
  steps: number[]
  judge?: JudgeRules
  /** It gets copies of the requests, and its answers go to nobody; its step is 0 then. */
  shadow?: true
  /** Name of a request header, in small letters: requests with the same value go to the same release. */
  header?: string
}

export interface JudgeRules {
  /** Requests that each of the two releases has answered in a step before it may end. */
  minimum: number
  /** Seconds that a step lasts at least. */
  hold: number
}

/** Of a release that gets copies: what became of them. */
export interface ShadowFigures {
  /** Sent, and compared as far as that could be. */
  copied: number
  same: number
  different: number
  /** Not answered, or with an error, where the request itself was answered well. */
  failed: number
  /** Not JSON, encoded, or larger than 1 MiB. */
  uncompared: number
  /** Never sent: more were waiting than are kept. */
  dropped: number
  /** Where in the answer the last difference was, such as `outputs[0].data[3]`. */
  lastDifference?: string
}

/** What the gateway counted of a release since the head was started; times in milliseconds. */
export interface ReleaseFigures {
  /** Answered, failed, refused and abandoned ones. */
  requests: number
  /** Status 500 and above, 429, or no whole answer. */
  failed: number
  /** Other statuses of 400 and above: the model server did not want the request. */
  refused: number
  /** Its reader went away before the answer had ended. */
  abandoned: number
  inFlight: number
  /** Time until the answer has ended, of those answered and abandoned; null without any. */
  p50: number | null
  p95: number | null
  p99: number | null
  /** Of OpenAI's API, where answers tell; and milliseconds until the first piece of streams. */
  tokens?: {prompt: number; completion: number; firstP50: number | null; firstP99: number | null}
  /** Rows of the requests that were answered, where they say how many. */
  batch?: {mean: number; most: number}
}

/** What waits at an endpoint, and what became of its requests before they were sent since the head was started. */
export interface QueueFigures {
  /** Requests at servers, and waiting for one, now. */
  inFlight: number
  queued: number
  /** The most that waits, and that a server gets at once. */
  most: number
  concurrency: number
  /** Requests that waited and were sent. */
  waited: number
  /** Milliseconds that those waited; null without any. */
  p50: number | null
  p99: number | null
  /** Not sent: the queue was full, they had waited as long as they may, their caller's deadline was over. */
  full: number
  expired: number
  late: number
  /** Sent once more after their connection broke. */
  retries: number
  /** Servers that get nothing for a while, as they failed again and again, or take no connections. */
  ejected: string[]
  down: string[]
}

/**
 * Of the release that serves, where the head chooses how many servers it has: between which numbers, by what, and where
 * they may run. Every place is prepared there: to start its server takes nobody but its node.
 */
export interface ScalingRules {
  min: number
  max: number
  /** Requests under way and waiting that one server is to have. */
  target: number
  /** Seconds without a request until the last server ends, where `min` is 0. */
  idle: number
  /** Seconds for which fewer servers have to do before one ends. */
  down: number
  /** Seconds that a server may take to be ready. */
  longestStart: number
  places: ScalingPlace[]
}

/** Where one server may run. */
export interface ScalingPlace {
  /** Id of the service on its node. */
  service: string
  node: string
  /** Its base URL as the head reaches it. */
  url: string
}

/** `off`: prepared, not started. `lost`: it does not answer, and another one is started in its place. */
export type PlaceState = 'off' | 'starting' | 'ready' | 'draining' | 'lost' | 'failed'

/** How an endpoint's servers are chosen now, as the head knows it. */
export interface ScalingFigures {
  /** asleep: none runs, and a request starts one. waking: none is ready, one starts. stuck: none is ready, and none could be started. */
  state: 'awake' | 'asleep' | 'waking' | 'stuck'
  /** Servers there should be. */
  wanted: number
  ready: number
  /** Requests under way and waiting, on average over a minute. */
  load: number
  /** Requests that wait for a server. */
  waiting: number
  /** How often a server was started for a request that found none. */
  wakes: number
  places: {service: string; node: string; state: PlaceState; since: number; why?: string}[]
  /** Newest first; `at` in milliseconds since 1970. */
  events: {at: number; text: string}[]
  /** Nodes whose agent does not ask. */
  silent: string[]
}

/** A body in a sample: one of json, events, text, base64; or why it is not there. */
export interface SampledContent {
  type?: string
  json?: unknown
  /** The data of a stream's events. */
  events?: unknown[]
  text?: string
  base64?: string
  omitted?: string
}

/** A request that an endpoint answered, without its headers and without who asked. */
export interface Exchange {
  /** When it was answered, milliseconds since 1970. */
  at: number
  release: string
  method: string
  /** Below the endpoint, without the query. */
  path: string
  status: number
  /** Milliseconds until the answer had gone out whole. */
  ms: number
  request: SampledContent
  answer: SampledContent
}

/** What POST …/sample answers. */
export interface Sampled {
  exchanges: Exchange[]
  /** Too much for one answer. */
  dropped: number
}

/**
 * How long a caller still waits for its answer, in milliseconds: what Envoy tells those behind it
 * (https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter). A duration, so that no
 * clocks have to agree; each one on the way passes on what is left of it.
 */
export const DEADLINE_HEADER = 'x-envoy-expected-rq-timeout-ms'

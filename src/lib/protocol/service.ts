// Services: long-lived processes of a node, kept running by a supervisor there. Generated from protocol/service.json by `npm run protocol`.
import type {OwnLeases} from './leases.ts'
import type {Nothing} from './node.ts'

export interface ServiceRestart {
  max: number
  window_seconds: number
}

/** TLS before a service that listens on loopback, for who shows a client certificate of the authority in `ca`. All PEM. */
export interface ServiceFront {
  listen: [string, number]
  to: [string, number]
  key: string
  certificate: string
  ca: string
}

/** A listening socket that the supervisor keeps, so that who connects while the process is started again waits. The process finds the numbers of all in FLEXRACK_SOCKETS. */
export interface ServiceSocket {
  /** Address. */
  host: string
  /** 0: that of the last start, or else any. */
  port: number
  /** Where the process tells the port of its last start: a key of a JSON file. */
  last?: {
    file: string
    key: string
  }
}

/** What a service is started with; kept in its folder, 0600. */
export interface ServiceOrder {
  argv: string[]
  /** Added to the node's own environment. */
  env?: Record<string, string>
  /** Absolute; its own folder by default. */
  cwd?: string
  /** Absent: it is never started again. */
  restart?: ServiceRestart
  /** Seconds between SIGTERM and SIGKILL; 10 by default. */
  grace?: number
  front?: ServiceFront
  sockets?: ServiceSocket[]
  /** Bytes after which its log begins anew. */
  rotate_bytes?: number
  /** What the process has started lives on when it ends or is replaced; a stop ends all of it. */
  spare_children?: boolean
  /** It does not come back after a reboot. */
  until_reboot?: boolean
  /** This node's agent may start and end it, as the head wants. */
  on_demand?: boolean
  /** It listens there whenever it runs: others leave them free. */
  ports?: number[]
  /** Leased at each start of its process, and given back when that ends. */
  gpus?: OwnLeases
}

export interface ServiceStart extends ServiceOrder {
  /** Letters, digits, `.`, `_`, `-`: also the name of its folder. */
  id: string
  /** Another one under this id is ended first. */
  replace?: boolean
  /** It is only written down, stopped. */
  define?: boolean
}

/** How a process ended. */
export interface ProcessExit {
  code: number | null
  signal: string | null
  text: string
}

export interface ServiceState {
  id: string
  /** lost: killed together with its supervisor, or the machine was restarted. waiting: ended, will be started again. */
  state: 'absent' | 'starting' | 'running' | 'waiting' | 'failed' | 'stopped' | 'lost'
  pid: number | null
  /** How often it ended by itself and was started again. */
  restarts: number
  /** Seconds since 1970. */
  started_at: number | null
  /** How it ended last. */
  exit: ProcessExit | null
  /** Log offset at which this start of it begins. */
  log_from: number
  /** Its supervisor is alive. */
  supervised: boolean
}

/** Who starts the node's services again after a reboot. */
export interface ComesBack {
  /** off: it is not wanted there, as on nodes of a local rack. */
  by: 'systemd' | 'cron' | 'none' | 'off'
  /** Why nobody does. */
  why: string | null
}

/** A service that is to run on the node and does not. */
export interface NotRunning {
  id: string
  state: string
  /** How it ended last. */
  exit: string | null
  /** The last line of its log since it was started. */
  last: string | null
}

/** Whether a run would go on after a reboot of the node. */
export interface RunOutlook {
  run: string
  project: string | null
  goes_on: boolean
  /** Why it would not. */
  why: string | null
}

export interface BootFound {
  comes_back: ComesBack
  /** Services that were started and that nobody has stopped since. */
  wanted: string[]
  missing: NotRunning[]
  /** Runs that are going on there. */
  runs: RunOutlook[]
}

export interface BootResumed {
  started: string[]
  failed: Record<string, string>
}

export interface ServiceStarted extends ServiceState {
  started: boolean
  comes_back: ComesBack
}

export interface ServiceStopped extends ServiceState {
  stopped: boolean
}

export interface ServiceId {
  id: string
}

export interface ServiceStop {
  id: string
  /** Seconds between SIGTERM and SIGKILL; by default the service's own. */
  grace?: number
  /** Its folder goes, too. */
  remove?: boolean
}

export interface ServicePrefix {
  prefix?: string
}

export interface ServiceLogs {
  id: string
  /** Byte offset to begin at, counted from the first byte ever written. */
  offset?: number
  /** Instead: so many bytes before the end, and not before the last start. */
  tail?: number
  /** Goes on until the service has ended. */
  follow?: boolean
}

export interface LogPiece {
  event: 'log'
  offset: number
  data: string
}

/** No news: a caller that has gone is noticed by it. */
export interface AliveEvent {
  event: 'alive'
}

export interface LogEnd {
  offset: number
}

export interface ServiceVerbs {
  /** Whether services come back after a reboot, and which of them do not run. */
  'boot.inspect': {input: Nothing | null; result: BootFound; event: never}
  /** What systemd or cron calls: starts every service that is to run and does not. */
  'boot.resume': {input: Nothing | null; result: BootResumed; event: never}
  /** Starts a service unless exactly this one runs already. */
  'service.start': {input: ServiceStart; result: ServiceStarted; event: never}
  /** What it does now. Adopts the process of a supervisor that was killed. */
  'service.status': {input: ServiceId; result: ServiceState; event: never}
  /** SIGTERM, the grace, SIGKILL, and proof that no process of it is left. */
  'service.stop': {input: ServiceStop; result: ServiceStopped; event: never}
  /** Every service of the node whose id begins so. */
  'service.list': {input: ServicePrefix; result: ServiceState[]; event: never}
  /** A service's log, from an offset on. */
  'service.logs': {input: ServiceLogs; result: LogEnd; event: LogPiece | AliveEvent}
}

// Files of a node that outlive who wrote them: each kind, where it is, the number of its shape, and what it holds beside `schema`, that number. Words in capitals stand for names. Generated from protocol/nodefiles.json by `npm run protocol`.
import type {Had} from './reservation.ts'
import type {ComesBack, ProcessExit, ServiceOrder} from './service.ts'
import type {SweepRecord, Trial} from './sweep.ts'

/** Something that flexrack put on the node. */
export interface InstalledLine {
  /** Relative to flexrack's folder where it is below it. */
  path: string
  kind: string
  /** ISO 8601, UTC. */
  at: string
}

/** What a service was started with. */
export interface KeptService extends ServiceOrder {
}

/** What a service's supervisor is doing. */
export interface ServiceNote {
  status: string
  restarts?: number
  log_from?: number
  pid?: number | null
  /** Start time of the process, with the machine's boot. */
  start?: string | null
  started_at?: number | null
  exit?: ProcessExit | null
  supervisor?: ServiceProcess
  /** Pids that outlived SIGKILL. */
  survivors?: number[]
}

export interface ServiceProcess {
  pid: number
  start: string | null
}

/** Somebody asked for the end of a service. */
export interface ServiceEnd {
  grace: number
  spare: boolean
}

/** What tells a machine from others. */
export interface OwnMachine {
  host: string
  machine: string
  addresses: string[]
}

/** What starts the node's services again after a reboot. */
export interface KeptComeback extends ComesBack {
  /** Lingering of the account was off before. */
  lingers_for_us: boolean
  machine: OwnMachine
  /** Of the session that started the services. */
  environment: Record<string, string>
}

/** Offsets at which the older and the current part of a service's log begin. */
export interface LogOffsets {
  older: number
  current: number
}

/** Kind, digest, executable, and the stamp with which it was seen. */
export type IndexEntry = unknown[]

/** What sync has put into a workspace. */
export interface WorkspaceIndex {
  revision: string
  tree: string | null
  written_ns: number
  entries: Record<string, IndexEntry>
}

/** The environment that a workspace uses. */
export interface WorkspaceUses {
  hash: string
  path: string
  python: string
}

/** An environment that is whole. */
export interface EnvironmentBuilt {
  hash: string
  python: string
  platform: string
  requirements: string[]
  built_at: number
  seconds: number
  node: string | null
  /** The program that built it. */
  by?: string
  /** Digest of the image that it is for. */
  image?: string
}

/** Something that uses an environment. */
export interface KeptEnvironmentUser {
  user: string
  root: string
  node: string | null
  since: number
}

/** A reservation, as all users of a node read it. */
export interface KeptReservation {
  lease: string
  fence: number
  state: 'waiting' | 'prepared' | 'confirmed' | 'running'
  boot: string
  heartbeat: number
  ttl: number
  since: number
  owner: string
  project: string | null
  node: string
  nodes: string[]
  root: string
  domain: string
  wants: Had
  holders: ProcessHeld[]
  pidns: string
}

export interface ProcessHeld {
  pid: number
  start: number
}

/** What a sweep tries. */
export interface KeptSweep extends SweepRecord {
  sweep: string
  created: number
}

/** The trials of a sweep, for those who only look. */
export interface KeptTrials {
  status: 'running' | 'interrupted' | 'finished' | 'stopped' | 'failed'
  at: number
  trials: Trial[]
  importance: Record<string, number> | null
}

/** Somebody asked for the end of a sweep. */
export interface SweepEnd {
  at: number
}

/** A change of the index since it was written whole; it counts where it follows the revision reached so far. */
export interface WorkspaceChange {
  after: string
  revision: string
  tree: string | null
  written_ns: number
  /** Null for a path that is no longer there. */
  entries: Record<string, IndexEntry | null>
}

/** Where a GPU daemon answers; it writes and removes this itself. */
export interface DaemonAddress {
  pid: number
  started: number
  boot_id: string
  address: string
  port: number
  /** The path of its admin socket. */
  admin: string
  /** The path of its clients' socket on this machine. */
  unix: string
  runtime: string
  backend: string
  /** The number of the protocol of its clients. */
  protocol: number
}

/** A part of a device that a lease has. */
export interface KeptShare {
  device: string
  memory: number
  compute: number
  whole: boolean
}

/** A lease of a GPU daemon, with its key. */
export interface KeptLease {
  lease: string
  key: string
  /** Nobody has held it yet. */
  granted: boolean
  owner: string
  purpose: string
  created: number
  cap: number
  /** It takes turns on its device. */
  oversubscribed?: boolean
  shares: KeptShare[]
}

/** The leases of a GPU daemon, for the next one of this folder; it writes and reads this itself. */
export interface KeptLeases {
  leases: KeptLease[]
}

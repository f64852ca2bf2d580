// What the GPU daemon tells on its admin socket. Generated from protocol/daemon.json by `npm run protocol`.
import type {ShareLeft} from './facts.ts'

export type Api = 'cuda' | 'opencl'

export interface DeviceShare {
  memory: number
  compute: number
  whole: boolean
}

/** A run has all of a device. */
export interface DeviceReserved {
  lease: string
  owner: string
}

/** Of a device on which leases take turns (docs/adr/0081); bytes. limit: of the host's memory, for all devices of the daemon. free: what one more such lease may be granted here. */
export interface Oversubscribed {
  limit: number
  granted: number
  free: number
  /** That these leases have on the device now. */
  physical: number
  /** That they have in the host's memory. */
  swapped: number
  /** One of them does not come to its turn in time: no more of them for now. */
  is_thrashing: boolean
}

/** How a lease that takes turns is: bytes on the device and in the host's memory, and how often it had to leave. */
export interface LeaseTurns {
  physical: number
  swapped: number
  count: number
  standing: 'in' | 'out' | 'waits' | 'thrashes'
}

export interface DaemonDevice {
  index: number
  id: string
  name: string
  vendor: string
  /** The release of CUDA that the driver offers, as 13.0; of OpenCL CL_DRIVER_VERSION. */
  driver: string
  api: Api
  capability?: string | null
  memory: number
  compute_units: number
  leased: DeviceShare
  free: ShareLeft
  /** null: every lease keeps its memory. */
  oversubscribed?: Oversubscribed | null
  used: number
  /** Share of the last second in which it computed, 0 to 1. */
  utilization: number
  /** Ids of the leases of it. */
  leases: string[]
  reserved?: DeviceReserved
}

export interface LeasedDevice {
  index: number
  id: string
  name: string
  memory: number
  compute: number
  whole: boolean
  cap: boolean
  oversubscribed?: boolean
  /** Where it is oversubscribed. */
  turns?: LeaseTurns
  used: number
  utilization: number
  /** Seconds of its longest kernel or graph of the last minute; null where none was timed alone. Absent: an older daemon. */
  longest_launch?: number | null
}

export interface LeaseHolder {
  address: string
  since: number
}

export interface LeaseSession {
  session: string
  pid: number
  address: string
  started: number
  client_pid: number
  used: number
}

export interface DaemonLease {
  lease: string
  /** granted: not taken up yet. lost: its holder does not answer. */
  state: 'granted' | 'held' | 'lost'
  owner: string
  purpose: string
  /** Seconds since 1970. */
  created: number
  age_seconds: number
  holder: LeaseHolder | null
  ends_in_seconds: number | null
  devices: LeasedDevice[]
  /** Programs that use it now. */
  sessions: LeaseSession[]
}

export interface DaemonStatus {
  version: string
  /** Of the wire. */
  protocol: number
  /** Revisions of APIs by name. */
  speaks: unknown
  pid: number
  started: number
  uptime_seconds: number
  boot_id: string
  root: string
  address: string
  port: number
  unix: string
  admin: string
  backend: string
  transport: string
  grace_seconds: number
  /** How many. */
  devices: number
  leases: number
  sessions: number
  connections: number
  /** What was refused since it started, by reason. */
  refused?: Record<string, number>
}

export interface DaemonState {
  /** stopped: it should run and does not. */
  state: 'running' | 'stopped' | 'absent'
  status: DaemonStatus | null
  devices: DaemonDevice[]
  leases: DaemonLease[]
}

export interface LeaseServer {
  address: string
  port: number
  unix: string
  boot_id: string
  transport: 'auto' | 'tls' | 'tcp' | 'shm'
  api?: Api
}

export interface GrantedDevice {
  index: number
  id: string
  name: string
  memory: number
  compute: number
  whole: boolean
  cap: boolean
  oversubscribed?: boolean
}

export interface GrantedLease {
  lease: string
  key: string
  state: 'granted' | 'held' | 'lost'
  hold_within_seconds: number
  grace_seconds: number
  server: LeaseServer
  devices: GrantedDevice[]
}

/** pause_seconds: the longest that one of its programs waited. */
export interface MovedLease {
  lease: string
  state: 'moved'
  sessions: number
  pause_seconds: number
}

export interface EndedLease {
  lease: string
  state: 'ended'
}

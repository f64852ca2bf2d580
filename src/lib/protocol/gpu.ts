// GPUs that a node shares, and leases of them. Generated from protocol/gpu.json by `npm run protocol`.
import type {DaemonState, EndedLease, GrantedLease, MovedLease} from './daemon.ts'
import type {FilePlaced, ProgramFile} from './head.ts'
import type {GpuPlace, LeaseTerms} from './leases.ts'
import type {Nothing} from './node.ts'
import type {ComesBack} from './service.ts'

/** What a daemon reaches its GPUs through; sim is a GPU in software, with CUDA's API. */
export type Backend = 'cuda' | 'opencl' | 'sim'

/** How a GPU in software is to be. Memory in bytes, latency in microseconds, bandwidth in 10^9 bytes a second; absent: the driver's own default. */
export interface SimSettings {
  devices?: number
  memory?: number
  /** A card to be like: a name that the driver knows, or the absolute path of a profile on the node. */
  profile?: string
  capability?: string
  /** Release of CUDA, and with it the newest PTX ISA that is read. */
  driver?: string
  multiprocessors?: number
  /** Kernels without PTX are launched and compute nothing: for counting calls. */
  'machine-code'?: 'accept'
  latency?: string
  bandwidth?: string
  fault?: string
}

/** What a node's daemon is started with; kept as settings.json. */
export interface GpuOrder {
  program: string
  backend: Backend
  /** The library of a backend that we bring along. */
  driver?: string
  /** The NVML of a GPU in software, which NCCL does not begin without; where the daemon has an NCCL. */
  nvml?: string
  sim?: SimSettings
  bind: string[]
  port?: number
  transport: string
  trusted_fabric: boolean
  grace: number
  env: Record<string, string>
}

export interface GpuQuestion {
  programs: string[]
  drivers?: boolean
  env?: Record<string, string>
}

export interface DriverFound {
  found: boolean
  why: string
}

/** OpenCL is looked for only where there is no CUDA. */
export interface FoundDrivers {
  cuda: DriverFound
  opencl?: DriverFound
}

/** What is there of a daemon. */
export interface GpuFound {
  folder: string
  /** As Python's platform.system().lower(): linux. */
  system: string
  machine: string
  /** Version of the C library. */
  glibc: string
  placed: string[]
  /** What starts it again when it ends. */
  keeper: 'systemd' | 'supervisor'
  comes_back: ComesBack
  running: boolean
  pid: number | null
  settings: GpuOrder | null
  /** Where it was asked for. */
  drivers?: FoundDrivers
}

export interface GpuStarted {
  /** False where exactly this daemon ran already. */
  started: boolean
  pid: number
  port: number
  keeper: 'systemd' | 'supervisor'
  comes_back: ComesBack
}

export interface GpuStop {
  force?: boolean
  grace?: number
}

/** What was taken away on one node. */
export interface Withdrawn {
  stopped: boolean
  leases: number
}

export interface LeaseRequest {
  devices: string[]
  whole?: boolean
  fraction?: number
  memory?: number
  compute?: number
  cap: boolean
  owner: string
  purpose: string
}

export interface LeaseId {
  lease: string
}

/** A lease that is to go to another node's daemon, where one like it was taken. Holds that one's key. */
export interface LeaseMove {
  lease: string
  to: MoveTarget
  /** How long its GPUs may take to come to rest. */
  rest_seconds: number
}

/** The lease there, as a lease file has it. */
export interface MoveTarget extends LeaseFileServer {
  grace_seconds: number
}

export interface WayQuestion {
  unix: string
  boot_id: string
  /** Tried under the daemon's own kernel only: everywhere else it is somebody else's. */
  loopback: string | null
  addresses: string[]
  port: number
  /** By which the daemon is known from whatever else may be there. */
  lease: string
}

/** unix: it answers at its socket under this very kernel. address: the first at which it answers. */
export interface Reachable {
  unix: boolean
  address: string | null
}

export interface LeaseFileDevice {
  name: string
  memory: number
}

export interface LeaseFileServer {
  node: string
  address: string
  port: number
  unix: string
  boot_id: string
  transport: string
  api: string
  lease: string
  key: string
  devices: LeaseFileDevice[]
}

/** What the driver and flexrack-lease-keeper read (native/client/lease_file.h). Holds keys. */
export interface LeaseFile {
  version: 1
  grace_seconds: number
  servers: LeaseFileServer[]
  /** Two servers carry out the same (docs/adr/0080). on_mismatch: what follows where they differ. */
  mirror?: {
    on_mismatch: 'stop' | 'primary'
  }
}

export interface LeaseDelivery {
  leases: LeaseFile
  /** flexrack-lease-keeper. */
  keeper: string
  icd: string | null
  libraries: Record<string, string>
}

/** Absolute paths. */
export interface DeliveredLeases {
  folder: string
  file: string
  /** flexrack-lease-keeper. */
  keeper: string
  vendors: string | null
  libraries: string | null
}

export interface DeliveryFolder {
  folder: string
}

/** A right to take leases of this node's daemon over the network, at the door. `bind`: addresses of both. */
export interface GpuPass {
  pass: string
  secret: string
  bind: string[]
  port: number
  daemon_port: number
}

export interface PassId {
  pass: string
}

export interface PassEnded {
  /** There was one. */
  ended: boolean
}

/** A pass, where it is good. Times in seconds since 1970. */
export interface KeptPass extends LeaseTerms {
  secret: string
  /** It ends then, unless it is renewed. */
  until: number
}

/** Where the door listens. */
export interface GpuDoor {
  bind: string[]
  port: number
}

export interface GpuPlaces {
  places: GpuPlace[]
}

/** Whether a node is let in at another one, and reaches its daemon; else why not. */
export interface Knocked {
  node: string
  problem: string | null
}

export interface DeliveryForgotten {
  removed: boolean
}

export interface GpuVerbs {
  /** What is there of a daemon. */
  'gpu.inspect': {input: GpuQuestion; result: GpuFound; event: never}
  /** Takes a program file as the body. */
  'gpu.place': {input: ProgramFile; result: FilePlaced; event: never}
  /** Has exactly this daemon run, and waits until it answers. */
  'gpu.start': {input: GpuOrder; result: GpuStarted; event: never}
  /** Ends the daemon, its workers and its leases. */
  'gpu.stop': {input: GpuStop; result: Withdrawn; event: never}
  /** Devices and leases. */
  'gpu.state': {input: Nothing | null; result: DaemonState; event: never}
  /** Takes a lease. */
  'gpu.lease': {input: LeaseRequest; result: GrantedLease; event: never}
  /** Lets another node take leases of this one by itself, and has the door open. */
  'gpu.allow': {input: LeaseTerms; result: GpuPass; event: never}
  /** Ends a pass. */
  'gpu.disallow': {input: PassId; result: PassEnded; event: never}
  /** Tries passes from here. */
  'gpu.knock': {input: GpuPlaces; result: Knocked[]; event: never}
  /** Ends a lease and its workers. */
  'gpu.release': {input: LeaseId; result: EndedLease; event: never}
  /** Has a lease's sessions go to another node's daemon, and ends it here. */
  'gpu.move': {input: LeaseMove; result: MovedLease; event: never}
  /** The way from here to a daemon, found by trying. */
  'gpu.reach': {input: WayQuestion; result: Reachable; event: never}
  /** Leases for a command that runs here. */
  'gpu.deliver': {input: LeaseDelivery; result: DeliveredLeases; event: never}
  /** Takes a delivery away. */
  'gpu.forget': {input: DeliveryFolder; result: DeliveryForgotten; event: never}
}

// Preflight: what a training needs of a node and of the ways to the others, and what can be mended. Generated from protocol/preflight.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'
import type {Nothing} from './node.ts'

/** Something on a node that can be put right without root. */
export interface Mendable {
  kind: 'processes' | 'temporary' | 'environment' | 'program' | 'workspace'
  name: string
  detail: string
  bytes: number
}

export interface MendQuestion {
  room: number
  project?: string
}

export interface MendList {
  items: Mendable[]
  free: number
}

export interface MendChoice {
  kind: 'processes' | 'temporary' | 'environment' | 'program' | 'workspace'
  name: string
}

export interface MendOrder {
  items: MendChoice[]
  grace?: number
}

export interface Mended extends MendChoice {
  bytes: number
  why?: string
}

export interface MendAnswer {
  done: Mended[]
  free: number
}

export interface PreflightStart {
  node: string
  /** Its own address on the way to the others; absent: a node alone. */
  address?: string
  secret?: string
  /** It would hold the rendezvous. */
  leads: boolean
  /** Whose environment is looked at. */
  project?: string
  /** Which Open MPI is there counts. */
  mpi?: boolean
  checks: string[]
  seconds?: number
  open_seconds?: number
}

export type NodePlace = [string, string, number]

export interface ClockCommand {
  id: number
  do: 'clock'
}

export interface ListenCommand {
  id: number
  do: 'listen'
}

export interface ReachCommand {
  id: number
  do: 'reach'
  peers: Record<string, [string, number]>
  rendezvous?: NodePlace
}

export interface FloodCommand {
  id: number
  do: 'flood'
  peer: NodePlace
  seconds: number
}

export interface FactsCommand {
  id: number
  do: 'facts'
}

/** A line of the body. */
export type PreflightCommand = ClockCommand | ListenCommand | ReachCommand | FloodCommand | FactsCommand

export interface PreflightReady {
  event: 'ready'
  machine: string
}

/** The answer to a command. */
export type PreflightDone = {
  event: 'done'
  id: number
} & Record<string, unknown>

export interface ClockAnswer {
  at: number
}

export interface LinkFact {
  name: string
  up: boolean
  mtu?: number
  speed?: number
}

export interface ListenAnswer {
  port?: number
  rendezvous?: number
  interface?: LinkFact
  failed?: string
}

/** What became of connecting. */
export interface WayAnswer {
  /** Milliseconds that the connection took to be made; absent where it failed. */
  ms?: number
  /** refused: rejected. silent: no answer. route: no way there. mute, unverified: something else answers. large: only short messages pass. */
  error?: 'refused' | 'silent' | 'route' | 'mute' | 'unverified' | 'large'
  text?: string
}

export interface ReachAnswer {
  ways: Record<string, WayAnswer>
  rendezvous?: WayAnswer
}

export interface FloodAnswer {
  bytes?: number
  seconds?: number
  error?: string
  text?: string
}

export type Limit = [number | null, number | null]

export interface ProcessLimits {
  open_files: Limit
  locked: Limit
  processes: Limit
  tasks_left: number | null
  may_lock: boolean
}

export interface SharedMemory {
  total: number
  free: number
}

export interface DiskState {
  path: string
  total: number
  free: number
  files: number
  free_files: number
}

export interface PortState {
  range: [number, number]
  used: number
}

export interface Versions {
  environment?: string
  python?: string
  packages: Record<string, string>
  mpi?: string | null
}

export interface RdmaState {
  device: string
  port: string
  state: string
  physical: string
  layer: string
  rate: string
}

export interface GpuProcess {
  pid: number
  used: number | null
  command: string
  user: string | null
}

/** What nvidia-smi says of a GPU. Bytes; null where it is not told. */
export interface GpuState {
  index: number
  uuid: string
  name: string
  driver: string
  total: number | null
  used: number | null
  free: number | null
  processes: GpuProcess[]
}

export interface Leftover {
  run: string
  pids: number[]
  command: string
}

/** What a node measures by itself. Bytes and numbers; null: no limit. Only what the checks need is there. */
export interface NodeState {
  limits?: ProcessLimits
  shm?: SharedMemory | null
  disks?: DiskState[]
  ports?: PortState
  versions?: Versions
  rdma?: RdmaState[]
  gpus?: GpuState[]
  leftovers?: Leftover[]
  /** What could not be measured, and why. */
  missing: Record<string, string>
}

export interface PreflightVerbs {
  /** A conversation: commands are lines of the body, and each is answered by an event. */
  'preflight.run': {input: PreflightStart; result: Nothing; event: PreflightReady | PreflightDone}
  /** What a user can put right on this node. */
  'preflight.mendable': {input: MendQuestion; result: MendList; event: never}
  /** Puts that right. */
  'preflight.mend': {input: MendOrder; result: MendAnswer; event: WaitingEvent}
}

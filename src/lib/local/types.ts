/** One node of the local rack, as kept in rack.json. */
export interface LocalNode {
  name: string
  /** Port on 127.0.0.1; kept over restarts while it is free. 0 before the first start. */
  port: number
}

/** What rack.json holds: the local rack as it should be. */
export interface LocalRack {
  /** Random; every process started on a node carries it as FLEXRACK_LOCAL_RACK. */
  id: string
  nodes: LocalNode[]
  /** Folder of Python environments that all nodes share; absolute. */
  environments: string
  /** False after `local down`: the homes are kept, nothing should run. */
  up: boolean
  /** Sessions that one SSH connection to a node may have at once, as sshd's MaxSessions. */
  maxSessions: number
}

/** What the background process says of itself. */
export interface DaemonState {
  pid: number
  id: string
  startedAt: string
  nodes: LocalNode[]
  /** Open SSH connections, all nodes together. */
  connections: number
  /** Resident memory in bytes. */
  memory: number
}

export interface LocalStatus {
  /** absent: never started or purged; stopped: homes are kept; running; crashed: should run and does not. */
  state: 'absent' | 'stopped' | 'running' | 'crashed'
  id: string | null
  pid: number | null
  startedAt: string | null
  rackFile: string
  folder: string
  nodes: (LocalNode & {home: string; processes: number})[]
}

/** A process of the local rack that was found on this machine. */
export interface FoundProcess {
  pid: number
  /** When it was started, in the kernel's unit; undefined for a group of processes. */
  born?: string | undefined
  node: string
  command: string
}

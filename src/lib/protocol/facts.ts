// Facts: what a node is and has. Sizes in bytes. A part that could not be read is absent. Generated from protocol/facts.json by `npm run protocol`.

/** The parts of a machine that say how it is wired. */
export interface MachineFacts {
  cpu?: MachineCpu
  numa?: NumaFact[]
  nics?: NicFact[]
  infiniband?: RdmaFact[]
  gpus?: GpuFact[]
  links?: LinkFacts
}

export interface MachineCpu {
  allowed?: string
  sockets?: number
}

export interface NumaFact {
  node: number
  socket?: number
  /** `0-15,32-47`; empty for a node that is memory of a GPU. */
  cpus: string
  memory?: number
  free?: number
  /** To each node in their order, 10 for itself. */
  distances?: number[]
}

/** A PCIe link as it runs and as the device could: lanes, GT/s. */
export interface PcieFact {
  width: number
  max_width: number
  speed?: number
  max_speed?: number
}

export interface NicFact {
  name: string
  kind: 'physical' | 'bond' | 'bridge' | 'vlan' | 'wireless' | 'virtual'
  up: boolean
  /** Mbit/s. */
  speed?: number
  /** Mbit/s of the fastest mode of the card. */
  max_speed?: number
  mtu?: number
  driver?: string
  /** PCI address, `0000:3b:00.0`. */
  bus?: string
  /** PCI address of the card that it is a slice of (SR-IOV). */
  part_of?: string
  numa_node?: number
  pcie?: PcieFact
  /** The bond or bridge that it is part of. */
  master?: string
  members?: string[]
}

/** A port of an InfiniBand or RoCE card. */
export interface RdmaFact {
  device: string
  port: number
  /** ACTIVE, INIT, DOWN. */
  state?: string
  /** LinkUp, Polling, Disabled. */
  physical?: string
  /** Gbit/s. */
  rate?: number
  /** `4X HDR`. */
  width?: string
  link?: string
  /** The network interface on the same port. */
  netdev?: string
  type?: string
  firmware?: string
  bus?: string
  part_of?: string
  numa_node?: number
  pcie?: PcieFact
}

export interface GpuFact {
  index: number
  uuid: string
  name: string
  /** null where the driver does not tell. */
  memory: number | null
  /** Not allocated by anybody. */
  free?: number | null
  driver: string
  bus: string
  numa_node?: number
  pcie?: PcieFact
  compute_mode?: string
  /** Where the GPU is in parts (MIG). */
  mig?: MigPart[]
}

export interface AffinityFact {
  cpus?: string
  numa_node?: number
}

export interface MigPart {
  profile: string
  uuid: string
}

/** In nvidia-smi's words (X, NV12, PIX, PXB, PHB, NODE, SYS); null where nobody knows. `devices`: GPU0, then cards by name. */
export interface LinkFacts {
  source: 'nvidia-smi' | 'sysfs'
  devices: string[]
  matrix: ((string | null)[])[]
  /** By name of the GPU. */
  affinity: Record<string, AffinityFact>
}

export interface PythonFact {
  version: string
  path: string
  venv: boolean
}

export interface CpuFact {
  /** CPUs that programs of this user may use. */
  cores: number
  /** Which ones, `0-15`. */
  allowed?: string
  /** Cores that a cgroup allows. */
  quota?: number
  /** NUMA nodes with CPUs. */
  numa_nodes: number
  /** Of the machine. */
  sockets?: number
  physical_cores?: number
  threads?: number
  /** Over the last minute. */
  load: number
  model?: string
}

export interface MemoryFact {
  total: number
  available: number
  limit?: number
  shared?: number
}

export interface DiskFact {
  path: string
  total: number
  free: number
  free_files: number
  writable: boolean
}

export interface InterfaceFact {
  name: string
  addresses: string[]
  up: boolean
  mtu?: number
  speed?: number
}

/** null: no limit. */
export interface LimitFact {
  soft: number | null
  hard: number | null
}

/** Of programs that are started over SSH. */
export interface LimitFacts {
  open_files: LimitFact
  locked_memory: LimitFact
  processes: LimitFact
}

export interface ShareLeft {
  memory: number
  compute: number
}

/** What a GPU daemon has left of a device. */
export interface FreeShare {
  index: number
  id: string
  name: string
  api: 'cuda' | 'opencl'
  memory: number
  free: ShareLeft
  whole: boolean
}

export interface GpuDaemonFact {
  state: 'running' | 'stopped' | 'absent'
  devices: FreeShare[]
}

export interface ContainerFact {
  name: string
  path: string
  version?: string
}

export interface PartitionFact {
  name: string
  default: boolean
  up: boolean
  time_limit: string
  nodes: number
}

export interface SlurmNodeFact {
  name: string
  state: string
  partitions: string[]
}

export interface SlurmFact {
  version?: string | null
  partitions?: PartitionFact[]
  node?: SlurmNodeFact | null
  problem?: string
}

export interface RouteFact {
  to?: string
  from?: string
  interface?: string | null
  error?: string
}

/** What a node is and has. */
export interface NodeFacts {
  cpu?: CpuFact
  numa?: NumaFact[]
  nics?: NicFact[]
  infiniband?: RdmaFact[]
  gpus?: GpuFact[]
  links?: LinkFacts
  hostname?: string
  user?: string
  home?: string
  /** flexrack's folder, absolute. */
  root?: string
  os?: string
  kernel?: string
  architecture?: string
  python?: PythonFact
  memory?: MemoryFact
  disk?: DiskFact
  interfaces?: InterfaceFact[]
  limits?: LimitFacts
  /** Shares of GPUs that no lease has, where a GPU daemon runs. */
  gpu_daemon?: GpuDaemonFact
  containers?: ContainerFact[]
  slurm?: SlurmFact | null
  /** By name of the other node: which address of this one reaches it. */
  routes?: Record<string, RouteFact>
  /** Of the ports asked for: those that nobody can listen on now. */
  taken_ports?: number[]
  /** What could not be measured, and why. */
  missing: Record<string, string>
  /** Seconds since 1970 on the node's clock. */
  clock: number
}

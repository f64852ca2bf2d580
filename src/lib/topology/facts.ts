/** What the node program tells of a machine's parts (node/flexrack_node/: numa, nics, infiniband, gpus, wiring). Sizes in bytes; what could not be read is absent. */
export interface MachineFacts {
  cpu?: {/** CPUs that programs of this user may use, `0-15`. */ allowed?: string; /** Of the machine. */ sockets?: number}
  numa?: NumaFact[]
  nics?: NicFact[]
  infiniband?: RdmaFact[]
  gpus?: GpuFact[]
  links?: LinkFacts
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
  mig?: {profile: string; uuid: string}[]
}

/** In nvidia-smi's words (X, NV12, PIX, PXB, PHB, NODE, SYS); null where nobody knows. `devices`: GPU0, then cards by name. */
export interface LinkFacts {
  source: 'nvidia-smi' | 'sysfs'
  devices: string[]
  matrix: (string | null)[][]
  /** By name of the GPU. */
  affinity: Record<string, {cpus?: string; numa_node?: number}>
}

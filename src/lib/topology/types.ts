import type {PcieFact} from '../protocol/index.ts'

/** NVLink; below one PCIe switch; below several; on one host bridge; at one socket; across sockets. */
export type LinkKind = 'nvlink' | 'switch' | 'switches' | 'bridge' | 'socket' | 'system' | 'unknown'

export interface Link {
  kind: LinkKind
  /** Of NVLinks. */
  count?: number
}

/** A node of a rack as placement sees it: what hangs where, and how far apart it is. Sizes in bytes. */
export interface Topology {
  sockets: number | null
  /** Those with CPUs, by number. */
  numa: NumaPlace[]
  gpus: GpuPlace[]
  nics: NicPlace[]
  /** Of gpus[i] and gpus[j]; null for itself. */
  links: (Link | null)[][]
  /** Of nics[i] and gpus[j]. */
  nicLinks: Link[][]
  /** Who told the links. sysfs does not see NVLink. null: nobody. */
  source: 'nvidia-smi' | 'sysfs' | null
}

export interface NumaPlace {
  node: number
  socket: number | null
  /** `0-15,32-47` */
  cpus: string
  /** null: not told. */
  memory: number | null
  free: number | null
}

export interface GpuPlace {
  index: number
  uuid: string
  name: string
  memory: number | null
  free: number | null
  bus: string
  /** null: nobody knows. */
  numaNode: number | null
  /** CPUs of its NUMA node, or those that nvidia-smi names; null: nobody knows. */
  cpus: string | null
  /** The card that reaches other nodes best from here; null where there is none that works. */
  nic: {name: string; netdev: string | null; link: Link} | null
  pcie: PcieFact | null
  /** It is in parts (MIG), which NVLink does not reach. */
  parts: number
}

export interface NicPlace {
  /** `mlx5_0`, or the interface where it does no RDMA. */
  name: string
  netdev: string | null
  kind: 'infiniband' | 'roce' | 'ethernet' | 'unknown'
  /** null: not told. */
  up: boolean | null
  /** Gbit/s now, and at most as far as that is known. */
  speed: number | null
  maxSpeed: number | null
  /** Model of the card, where it does RDMA. */
  type: string | null
  numaNode: number | null
  pcie: PcieFact | null
}

/** Something in a node that slows work down, or spoils a comparison. */
export interface BadWiring {
  kind: 'far-nic' | 'far-memory' | 'far-cpus' | 'slow-nic' | 'narrow-pcie' | 'unlike-gpus' | 'no-memory'
  /** What it is about: `GPU0`, `mlx5_1`, `NUMA 2`. */
  subjects: string[]
  /** One sentence. */
  text: string
  /** Why it matters, one sentence. */
  why: string
}

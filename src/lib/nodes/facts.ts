/** What a node is and has, as node.facts measures it (node/flexrack_node/facts.py). Sizes in bytes. A part that could not be read is absent. */
export interface NodeFacts {
  hostname?: string
  user?: string
  home?: string
  /** flexrack's folder, absolute. */
  root?: string
  os?: string
  kernel?: string
  architecture?: string
  python?: {version: string; path: string; /** False where `python3 -m venv` would fail. */ venv: boolean}
  cpu?: {cores: number; numa_nodes: number; /** Over the last minute. */ load: number; model?: string; /** Cores a cgroup allows. */ quota?: number}
  memory?: {total: number; available: number; /** Where a cgroup allows less. */ limit?: number; /** Size of /dev/shm. */ shared?: number}
  disk?: {path: string; total: number; free: number; free_files: number; writable: boolean}
  interfaces?: {name: string; /** `10.0.0.1/24`. */ addresses: string[]; up: boolean; mtu?: number; /** Mbit/s. */ speed?: number}[]
  gpus?: {index: number; uuid: string; name: string; memory: number | null; driver: string; bus: string}[]
  containers?: string[]
  slurm?: string | null
  /** By name of the other node: which address of this one reaches it. */
  routes?: Record<string, {to?: string; from?: string; interface?: string | null; error?: string}>
  /** Of the ports asked for: those that nobody can listen on now. */
  taken_ports?: number[]
  /** What could not be measured, and why. */
  missing: Record<string, string>
  /** Seconds since 1970 on the node's clock. */
  clock: number
}

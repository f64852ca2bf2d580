/** A validated rack file. Keys in the file are snake_case. */
export interface Rack {
  name: string
  /** Absolute path of the rack file. */
  path: string
  nodes: RackNode[]
  head: HeadSpec
  /** The GPU daemons of all nodes, where it differs from the defaults. */
  gpu?: Partial<GpuSpec>
  /** Slurm places its runs. */
  slurm?: RackSlurm
  /** Of the nodes that do not say it themselves. */
  network?: RackNetwork
  /** Hosts that nodes may reach through this machine, besides those that the settings of package indexes name. */
  networkHosts?: string[]
  /** Bytes that data sets may take on each node. */
  dataLimit?: number
  /** Folders of node_exporter's textfile collector, and of dcgm-exporter's job mapping. */
  metrics?: {textfile?: string | undefined; dcgm?: string | undefined}
  /** By name. */
  volumes?: Record<string, RackVolume>
}

/** A folder of nodes that runs may have, as it stands in the file. */
export interface RackVolume {
  path: string
  kind: 'local' | 'shared'
  /** A selector; absent: all. */
  nodes?: string
  read_only?: boolean
}

/**
 * How a node gets packages: by itself, through the machine that flexrack runs on, or from the bundles that were applied
 * there.
 */
export type RackNetwork = 'direct' | 'through-client' | 'bundle'

export interface RackSlurm {
  /** Name of the node with Slurm's programs. */
  login: string
  partition?: string
  account?: string
  qos?: string
  /** Network interface over which the nodes of a job meet. */
  interface?: string
  /** Folder of Slurm's programs on the login node. */
  bin?: string
  /** More options of sbatch, `--name=value` each. */
  extra: string[]
}

export interface RackNode {
  name: string
  /** Host name, address, or a Host alias of ~/.ssh/config. */
  host: string
  port?: number
  user?: string
  identityFile?: string
  proxyJump?: string
  /** known_hosts file for this node, instead of ~/.ssh/known_hosts. */
  knownHosts?: string
  /** Address at which the other nodes reach this one (ranks, replicas). Undefined: found by route. */
  address?: string
  /** flexrack's folder on the node; default `~/.flexrack`. */
  root: string
  /**
   * Folder of Python environments, where several nodes share one (same machine, NFS); default `<root>/environments`.
   */
  environments?: string
  labels: Record<string, string>
  /** When it goes away by itself, in ISO 8601. */
  until?: string
  /** Its name may lead to another machine each time, and all of them count as one: the login node of a Slurm. */
  pooled?: boolean
  /** Its own, or the rack's; absent: direct. */
  network?: RackNetwork
  /** The rack's. */
  networkHosts?: string[]
  /** Where its GPU daemon differs from the rack's. */
  gpu?: Partial<GpuSpec>
}

export interface GpuSpec {
  /** Addresses that the daemon binds; 127.0.0.1 by default. */
  bind: string[]
  /** Absent: one is chosen at the first start and kept. */
  port?: number
  /** auto: shared memory on one machine, else TLS. tcp: unencrypted. */
  transport: 'auto' | 'tls' | 'tcp'
  /** Whether `tcp` may leave the machine. */
  trustedFabric: boolean
  /** Seconds in which a lost connection may come back. */
  grace: number
  /** Bytes of the node's memory for leases that take turns on a GPU; absent: there are none. */
  oversubscribe?: number
  /** Environment variables of the daemon. */
  env: Record<string, string>
}

export interface HeadSpec {
  /** Name of the node that runs the head; the first node by default. */
  node: string
  /** Name of the node that runs a second head. */
  standby?: string
  /** More names and addresses that clients call the heads by. */
  names?: string[]
  /** Address the head binds on its node; found by route where absent. */
  bind?: string
  /** Port of the head; 0 or absent: one is chosen at the first start and kept. */
  port?: number
  /** Base URL at which nodes reach the head, where that is a proxy. */
  url?: string
  /** MLflow backend store URI; default SQLite in the head's folder. */
  store?: string
  /** MLflow artifacts destination; default a folder in the head's folder. */
  artifacts?: string
}

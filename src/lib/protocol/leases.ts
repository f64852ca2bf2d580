// What a node needs to lease GPUs when nobody types: for kernels of notebooks, and for model servers. Generated from protocol/leases.json by `npm run protocol`.

/** Another node that gives leases by a pass, as its holder keeps it. Holds the secret. */
export interface GpuPlace {
  node: string
  pass: string
  secret: string
  /** Tried in this order. */
  addresses: string[]
  port: number
  daemon_port: number
}

/** What a lease is to be that is taken when nobody types, and whose. */
export interface LeaseTerms {
  /** Devices; of a pass at most, of one lease. */
  count: number
  /** whole, or fraction, or memory in bytes: as gpu.lease takes it. */
  share: Record<string, number | boolean>
  cap: boolean
  api: 'cuda' | 'opencl'
  owner: string
  /** What the lease is for, for people; of a model server also what it is found by. */
  purpose: string
  /** For people. */
  text: string
}

/** What a process leases by itself when it starts, a kernel or a model server: of the daemon of its own node, else of those of `places`. */
export interface OwnLeases extends LeaseTerms {
  /** Names of programs that gpu.place has put there. */
  keeper: string
  icd: string | null
  /** Names of programs, by the names of links to them. */
  libraries: Record<string, string>
  /** Of its own node: taken before others, if they are free. */
  devices?: string[]
  /** Other nodes that it may lease of. */
  places?: GpuPlace[]
}

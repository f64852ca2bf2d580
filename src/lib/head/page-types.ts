import type {LinesAt, MergedWish, PageIdle, PageLines} from './page-parts.ts'

/**
 * The rack's page: what the head asks of a `head ui` that has it open, and is answered. Times in milliseconds since
 * 1970, sizes in bytes, shares 0..1; what is not known is null.
 */

/** A GPU of a node. `holders`: who has a share of it; `from`: the machine it is used from, where that is not its node. */
export interface PageGpu {
  index: number
  name: string
  memory: number
  used: number
  busy: number
  whole: boolean
  holders: {owner: string; purpose: string; lease: string; share: number; from: string | null}[]
}

export interface PageNode {
  name: string
  host: string
  ok: boolean
  /** Why not, where not ok. */
  message: string | null
  /** It does not answer, and was not to be there any more. */
  gone: boolean
  cores: number | null
  load: number | null
  busy: number | null
  memory: {used: number; total: number} | null
  disk: {free: number; total: number} | null
  /** All that the driver has; those that the node shares are in `gpus`. */
  gpuCount: number
  gpus: PageGpu[]
  /** Runs that have it, or wait for it: their owner and state. */
  reserved: {owner: string; state: string; gpus: number}[]
}

export interface PageRun {
  run: string
  project: string | null
  /** Who started it, as its record says. */
  user: string | null
  status: string
  nodes: string[]
  worldSize: number | null
  started: number | null
  ended: number | null
  attempt: number | null
  cause: string | null
  sweep: string | null
  /** Id of its record at the tracking server. */
  tracked: string | null
  metrics: Record<string, number>
}

export interface PageLease {
  lease: string
  node: string
  owner: string
  purpose: string
  state: string
  from: string | null
  gpus: number[]
  used: number
  created: number
}

/** One look at the rack. */
export interface PageRack {
  rack: string
  at: number
  nodes: PageNode[]
  runs: PageRun[]
  leases: PageLease[]
  /** What could not be asked, and why. */
  unknown: string[]
}

export interface PageAttempt {
  attempt: number
  status: string
  started: number | null
  ended: number | null
  why: string | null
  cause: string | null
  nodes: string[]
  steps: number | null
}

/** A run with everything that its nodes and its record tell. */
export interface PageRunDetail extends PageRun {
  command: string[]
  commit: string | null
  environment: string | null
  data: {name: string; digest: string}[]
  code: {digest: string; files: number; bytes: number}[]
  params: Record<string, string>
  lastMetrics: {key: string; value: number; step: number}[]
  artifacts: {path: string; size: number | null}[]
  attempts: PageAttempt[]
  /** `lines`: the most telling of the stacks; `suspects`: who kept the others waiting. */
  hangs: {
    at: number
    attempt: number
    text: string
    lines: string[]
    suspects: {rank: number; node: string; why: string}[]
  }[]
  /** Of the newest attempt in which ranks told of themselves. `wait`: share of the time of steps. */
  ranks: PageRank[]
  /** Who keeps the others waiting, one sentence. */
  slowest: string | null
  /** When the ranks of the first attempt were there. */
  ranksStarted: number | null
  /** `[name, value]` of what it did and used. */
  figures: [string, string][]
  /** Why the tracking server could not be asked. */
  away: string | null
}

export interface PageRank {
  rank: number
  node: string
  steps: number
  /** Samples a second, or tokens where it counts none. */
  rate: number | null
  wait: number | null
  /** Percent of one CPU. */
  cpu: number | null
  memory: number | null
}

/** How a node is wired; links in the words of `nvidia-smi topo -m`. */
export interface PageTopology {
  node: string
  /** Who told the links; null: nobody. */
  source: string | null
  numa: {node: number; cpus: string; memory: number | null}[]
  gpus: {index: number; name: string; memory: number | null; numaNode: number | null; nic: string | null}[]
  nics: {name: string; kind: string; up: boolean | null; speed: number | null; numaNode: number | null}[]
  /** Of GPU i and GPU j; null for itself. */
  links: (string | null)[][]
  /** Of NIC i and GPU j. */
  nicLinks: string[][]
  findings: {text: string; why: string}[]
}

/** Something that is served, was made, or went into it; what it came from follows. */
export interface PageOrigin {
  kind: string
  name: string
  facts: [name: string, value: string][]
  check?: {holds: boolean; why: string}
  from: PageOrigin[]
}

/** Where the ranks of a live run are; ranks at one place are one group. */
export interface PageStacks {
  attempt: number
  groups: {ranks: number[]; frames: {file: string; line: number | null; function: string}[]}[]
  failed: {node: string; message: string}[]
}

export interface PageNotebook {
  name: string
  node: string
  state: string
  kernels: number
  idleSince: number | null
  endsAt: number | null
  why: string | null
}

export interface PageSweep {
  sweep: string
  project: string
  status: string
  metric: string
  goal: string
  best: number | null
  trials: {
    number: number
    state: string
    value: number | null
    params: Record<string, string | number>
    run: string | null
  }[]
  /** Share of the spread of the results that each parameter explains. */
  importance: Record<string, number>
}

export interface PageData {
  name: string
  digest: string
  files: number
  bytes: number
  created: number
}

/** What can be asked: input and answer. */
export interface PageAsks {
  rack: {input: Record<never, never>; answer: PageRack}
  runs: {input: {limit: number}; answer: {runs: PageRun[]; away: string | null; unasked: string[]}}
  run: {input: {run: string}; answer: PageRunDetail}
  lines: {input: {run: string; rank: number | null; attempt: number | null; at: LinesAt}; answer: PageLines}
  merged: {input: MergedWish; answer: PageLines}
  stacks: {input: {run: string}; answer: PageStacks}
  topology: {input: {node: string}; answer: PageTopology}
  /** `name`: as `flexrack why` takes it. */
  why: {input: {name: string}; answer: {tree: PageOrigin; broken: {arrow: string; why: string} | null}}
  invoke: {input: {endpoint: string; text: string}; answer: {text: string; milliseconds: number}}
  stop: {input: {run: string}; answer: {status: string}}
  rollback: {input: {endpoint: string}; answer: {release: string}}
  idle: {input: {days: number}; answer: PageIdle}
  notebooks: {input: Record<never, never>; answer: PageNotebook[]}
  endNotebook: {input: {name: string; node: string}; answer: Record<never, never>}
  sweeps: {input: Record<never, never>; answer: PageSweep[]}
  data: {input: Record<never, never>; answer: PageData[]}
  /** A link that lets this browser into the page of another rack, once. */
  enter: {input: {rack: string}; answer: {url: string}}
}
export type PageAsk = keyof PageAsks

export interface PageQuestion<A extends PageAsk = PageAsk> {
  id: string
  ask: A
  input: PageAsks[A]['input']
}

/** What a `head ui` says of itself when it asks for questions. */
export interface PageHand {
  rack: string
  /** Same for those that see the same nodes by the same accounts: they share what one of them sees. */
  view: string
  /** `name@machine`, as it says. */
  owner: string
  /** All racks that it has open, this one among them. */
  racks: string[]
  /** Where it forwards MLflow's pages to; they have an address of their own, as they show what runs have written. */
  mlflow: string
}

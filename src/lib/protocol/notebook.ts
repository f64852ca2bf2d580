// Notebooks: a server of JupyterLab for a workspace. Times in seconds since 1970, by the node's clock. Generated from protocol/notebook.json by `npm run protocol`.
import type {BoundVolume, EnterOrder, Isolate} from './image.ts'
import type {OwnLeases} from './leases.ts'
import type {ServiceState} from './service.ts'

export interface NotebookProject {
  project: string
}

export interface NotebookQuestion {
  project?: string
}

export interface NotebookWanted {
  project: string
  /** Absolute: the environment with JupyterLab. */
  server: string
  /** Absolute: an environment of the project's Python, whose packages make a kernel of that. */
  side: string
  /** Absolute: the project's own. */
  environment: string
  /** Seconds after which a kernel that does nothing is ended; 0: never. */
  idle: number
  /** When all of it is ended. */
  end_at?: number
  gpus?: OwnLeases
  /** Digest: kernels and terminals are in it. */
  image?: string
  /** The server is in a sandbox, with all that it starts. */
  isolate?: Isolate
  volumes?: BoundVolume[]
  /** Variables that count although the image sets them. */
  keep?: string[]
}

/** What the service is started with. */
export interface NotebookPrepared {
  id: string
  argv: string[]
  cwd: string
}

export interface NotebookAccess {
  /** Absolute. */
  socket: string
  token: string
}

/** What a notebook was started with, for its keeper. */
export interface NotebookSettings {
  server: string
  environment: string
  socket: string
  idle: number
  end_at: number | null
  /** Absolute: the folder of environments. */
  environments?: string
  /** How the server is entered; absent: it is on the node itself. */
  order?: EnterOrder
}

export interface NotebookKernel {
  id: string
  /** Name of its kind: python3, gpu. */
  kernel: string | null
  /** Path of the notebook that it is for, in the code folder. */
  notebook: string | null
  /** As Jupyter has it: starting, idle, busy... */
  state: string
  active_at: number
  /** When it will be ended if nobody uses it; null while it is at work, and where nothing ends it. */
  ends_at: number | null
}

export interface NotebookEnd {
  what: string
  why: string
  at: number
}

/** What a notebook's keeper saw last. */
export interface NotebookSeen {
  /** The server answers. */
  ready: boolean
  at: number
  kernels: NotebookKernel[]
  /** When all of it will be ended; null where nothing ends it now. */
  ends_at: number | null
  ends_why: string | null
  /** The last ends, oldest first. */
  ended: NotebookEnd[]
}

export interface NotebookEntry {
  project: string
  /** Absolute: the folder that it shows. */
  code: string
  service: ServiceState
  idle: number
  end_at: number | null
  /** By the node's clock. */
  now: number
  seen: NotebookSeen | null
}

export interface NotebookRemoved {
  stopped: boolean
  removed: boolean
}

export interface NotebookVerbs {
  /** Makes the folder of a notebook, and says what its service is started with. */
  'notebook.prepare': {input: NotebookWanted; result: NotebookPrepared; event: never}
  /** Where a notebook listens, and its token. */
  'notebook.access': {input: NotebookProject; result: NotebookAccess; event: never}
  /** The notebooks of the node: all, or that of one project. */
  'notebook.list': {input: NotebookQuestion; result: NotebookEntry[]; event: never}
  /** Ends a notebook with its kernels, and removes what it was started with. */
  'notebook.remove': {input: NotebookProject; result: NotebookRemoved; event: never}
}

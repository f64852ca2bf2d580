// Container images of workspaces, and sandboxes. Digests are `sha256:` and 64 hex digits; a layer's diff_id is that of its tar, whatever it was packed with. Generated from protocol/image.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'

export interface ImageQuestion {
  /** diff_ids, the lowest first. */
  layers: string[]
  /** Version of bubblewrap that would be sent. */
  tool: string
  /** Digest: whether what is kept of it still fits this node. */
  image?: string
  /** Only what makes sandboxes counts. */
  sandbox?: boolean
}

/** What runs images instead of bubblewrap. */
export type Engine = 'ch-run' | 'apptainer' | 'proot'

/** What runs images here; `engine` null and no `why`: not known before bubblewrap is there. */
export interface ImageRuntime {
  engine: 'bubblewrap' | 'ch-run' | 'apptainer' | 'proot' | null
  program: string | null
  /** Why bubblewrap does not run here. */
  why: string
  hint: string | null
  /** What is missing with another engine than bubblewrap. */
  loss: string | null
}

export interface ImageFound {
  /** diff_ids of layers that are to be sent. */
  missing: string[]
  runtime: ImageRuntime
  /** The platform whose bubblewrap is to be sent. */
  lacks: string | null
  /** As `uname -m` names it. */
  machine: string
  /** The image is kept for another engine than the one that works now. */
  remake: boolean
}

export interface ImageForgotten {
  forgotten: boolean
}

export interface ImageUser {
  project: string
}

/** A wheel of bubblewrap, which follows as the body. */
export interface ToolWheel {
  version: string
  lock: string
  name: string
  sha256: string
}

export interface ToolPlaced {
  path: string
}

/** One layer, whose tar follows as the body. */
export interface LayerOrder {
  diff_id: string
  encoding: 'gzip' | 'none'
  /** Bytes that its tar may have at most. */
  most?: number
  owner?: string
}

export interface LayerMade {
  files: number
  bytes: number
  /** Device files that were left out. */
  devices: number
  /** False: it was there already. */
  made: boolean
}

/** What of the image's configuration applies. */
export interface ImageSettings {
  env: Record<string, string>
  user?: string
}

export interface ImageOrder {
  project: string
  digest: string
  ref: string
  layers: string[]
  settings: ImageSettings
}

export interface ImageKept {
  layers: number
}

/** What a workspace runs in. */
export interface ImageUsed {
  digest: string
  ref: string
}

/** A layer that is whole. */
export interface KeptLayer {
  diff_id: string
  files: number
  bytes: number
  devices: number
}

/** An image: its layers, the lowest first. */
export interface KeptImage {
  digest: string
  ref: string
  layers: string[]
  settings: ImageSettings
  engine?: Engine
}

export interface ImageSize {
  bytes: number
  files: number
}

export interface ImageEntry {
  digest: string
  ref: string
  layers: string[]
  /** Of its layers, unpacked. */
  bytes: number
  /** Of those that no other image here has. */
  alone: number
  /** Projects. */
  used_by: string[]
}

export interface ImagesUnwanted {
  digests?: string[]
  dry_run?: boolean
}

export interface ImagesGone {
  removed: string[]
  kept: string[]
  layers: number
  bytes: number
}

/** What a sandboxed program may have. */
export interface Isolate {
  network: 'none' | 'host'
  /** Bytes. */
  memory?: number
  pids?: number
  cpus?: number
}

/** A volume of the rack file, as a program may have it. */
export interface BoundVolume {
  name: string
  /** The same inside and outside. */
  path: string
  write: boolean
}

/** How a program is started in an image, in a sandbox, or both. Paths are absolute, and the same inside and outside. */
export interface EnterOrder {
  /** Digest; absent: the node's own files. */
  image?: string
  isolate?: Isolate
  read: string[]
  write: string[]
  volumes?: BoundVolume[]
  /** UUIDs or numbers of the local GPUs that it sees; null: all. */
  gpus: string[] | null
  /** A point: where it is started. */
  cwd: string
  /** Folders in front of the image's PATH. */
  path: string[]
  /** Variables that count although the image sets them. */
  keep: string[]
  /** Pairs: a file here, and in whose place it is seen. */
  over?: string[][]
  /** Folder of our GPU drivers, which its programs load. */
  drivers?: string
  /** It ends with who started it. */
  die?: boolean
  /** All of it stays in the group of who started it, which is signalled as a whole. */
  group?: boolean
}

export interface ImagePythonQuestion {
  /** Digest. */
  image: string
  /** Version that is wanted; null: the image's python3. */
  python: string | null
}

export interface ImagePython {
  /** Version, in full; null: the image has none. */
  python: string | null
}

/** By what a limit would be held: a cgroup of ours, a scope of the account's systemd, or for each process alone (CPUs: by where it may run). */
export interface LimitsHeld {
  memory: 'cgroup' | 'systemd' | 'process'
  pids: 'cgroup' | 'systemd' | 'process'
  cpus: 'cgroup' | 'systemd' | 'process'
}

export interface SandboxLook {
  runtime: ImageRuntime
  limits: LimitsHeld
  lacks: string | null
}

export interface ImageVerbs {
  /** What of an image is to be sent, and whether it can run here. */
  'image.inspect': {input: ImageQuestion; result: ImageFound; event: never}
  /** Takes a wheel of bubblewrap as the body, and unpacks its program. */
  'image.tool': {input: ToolWheel; result: ToolPlaced; event: never}
  /** Takes a layer as the body, and unpacks it. */
  'image.layer': {input: LayerOrder; result: LayerMade; event: WaitingEvent}
  /** All layers are there: the project's workspace uses the image from now on. */
  'image.keep': {input: ImageOrder; result: ImageKept; event: never}
  /** The project's workspace uses no image any more. */
  'image.forget': {input: ImageUser; result: ImageForgotten; event: never}
  /** The images of the node. */
  'image.list': {input: null; result: ImageEntry[]; event: never}
  /** Removes images that no workspace uses, and their layers. */
  'image.remove': {input: ImagesUnwanted; result: ImagesGone; event: WaitingEvent}
  /** Which Python an image that is here has: it is run. */
  'image.python': {input: ImagePythonQuestion; result: ImagePython; event: never}
  /** What holds a sandbox here. */
  'image.sandbox': {input: ImageQuestion; result: SandboxLook; event: never}
}

// Python environments of a node, shared by content. Generated from protocol/environment.json by `npm run protocol`.

/** The same content gives the same environment, whoever asks. */
export interface EnvironmentContent {
  /** Text of a requirements file; empty: an environment without packages. */
  requirements: string
  /** Text of a constraints file. */
  constraints?: string
  /** Python version (3.11) or range (>=3.11,<3.13), which uv installs where the node has none; or a name or an absolute path on the node; the node's python3 by default. */
  python?: string
  project?: ProjectToInstall
  /** Digest of the image, which is there, in which it is made and whose Python and packages it has below its own. */
  image?: string
}

/** The project of a workspace is in the environment itself, editable: its modules are those of the code folder, and its programs are there. */
export interface ProjectToInstall {
  workspace: string
  /** Of its distribution, normalized. */
  name: string
  /** Of its pyproject.toml, relative to the code folder. */
  folder: string
  /** Over what says how it is installed: where this changes, so does the environment. */
  digest: string
}

export interface EnvironmentWanted extends EnvironmentContent {
  /** Text of a constraints file that makes the versions those of another node; the environment is the same with or without them. */
  pins?: string
  /** What uses it from now on, which keeps it from being removed: `workspace:digits`, `head`, `endpoint:digits`. */
  user?: string
  /** Who asked for it, told to who waits for this build. */
  owner?: string
  /** Builds it; without this, pip does. */
  uv?: UvOrder
  download?: DownloadWay
  /** The command that asked, and for which node. */
  asker?: Asker
}

/** Packages come through the caller, for as long as this call. */
export interface DownloadWay {
  /** URL of an HTTP proxy on the node's loopback, with its secret. */
  proxy: string
  /** PEM: authorities that the caller's own settings trust, trusted by this call besides the node's. */
  certificates?: string
  /** The proxy answers for names of workspace/mirror.py, too: others may have what they lead to. */
  mirrored?: boolean
  /** The settings count instead of all that the node has of its own. */
  instead?: boolean
  /** Of pip on the caller's machine, by the long names of its options: where packages come from. Each counts where the node has none of its own. Besides, `python-install-mirror` of uv. */
  settings: Record<string, string>
}

export interface ShareWanted {
  /** The caller's way, for the node's own proxy. */
  download: DownloadWay
  /** At which other nodes reach this one; by default where the caller has reached it. */
  address?: string
}

export interface ShareOpen {
  event: 'open'
  /** For installers on this node. */
  proxy: string
  /** Of this call, for other nodes. */
  secret: string
  /** Where other nodes may ask; absent where they cannot. */
  address?: string
  port?: number
}

export interface Asker {
  command: string
  node: string
}

/** Who holds a lock. */
export interface LockHolder {
  pid?: number
  user?: string
  host?: string
  since?: number
  purpose?: string
  owner?: string | null
  asker?: Asker | null
}

export interface EnvironmentMade {
  /** Content hash: requirements, Python version, platform. 16 hex digits. */
  hash: string
  /** Absolute; its Python is at `<path>/bin/python`. */
  path: string
  /** False where it was there already. */
  built: boolean
  /** Version. */
  python: string
}

export interface ResolveWanted extends EnvironmentContent {
  uv: UvOrder
  download?: DownloadWay
  /** For every platform, from this Python on, with hashes: `3.11`. By default for this node, without. */
  universal?: string
}

export interface Resolved {
  /** `name==version`, a line each; of an environment that is there already, what is in it. null: there is no uv. */
  pins: string | null
}

/** Nothing was built: this is to be sent first, or the order to say why it cannot be. */
export interface ToolMissing {
  missing: 'uv'
  /** As in the names of uv's files: x86_64, aarch64. */
  machine: string
}

/** Which uv builds environments. */
export interface UvOrder {
  /** The one that is sent or fetched. */
  version: string
  /** One that is there already may be as old as this. */
  oldest: string
  /** A requirements file with its pin, and the hashes of its files. */
  lock: string
  /** Why the caller cannot send it: the node tries its own package index, then pip builds. */
  without?: string
}

export interface UvPlaced {
  path: string
}

/** A wheel of uv, which follows as the body, or comes by the node's own proxy. */
export interface UvWheel {
  version: string
  lock: string
  name: string
  sha256: string
  /** That of `environment.share`: other nodes may have it. */
  proxy?: string
}

export interface EnvironmentPlanned {
  hash: string
  path: string
  ready: boolean
  /** Version; without its last part where it is to be installed. */
  python: string
  /** Hash over the versions in it, where it is ready. */
  versions?: string
  /** Whose Python it is: the node's own, flexrack's (which uv has installed), one that uv is to install first, or the image's. */
  by: 'node' | 'flexrack' | 'uv' | 'image'
}

/** What uses an environment, and flexrack's folder of the node that it is on. */
export interface EnvironmentUser {
  user: string
  root: string
}

export interface EnvironmentNote extends EnvironmentUser {
  node?: string | null
  since?: number
}

export interface EnvironmentEntry {
  hash: string
  path: string
  ready: boolean
  python: string | null
  built_at: number | null
  requirements: string[]
  users: EnvironmentNote[]
}

export interface EnvironmentUse {
  user: string
}

export interface EnvironmentsReleased {
  released: string[]
}

export interface EnvironmentsUnwanted {
  hashes?: string[]
  ignoring?: EnvironmentUser[]
  dry_run?: boolean
}

export interface EnvironmentKept {
  hash: string
  users: EnvironmentNote[]
  pids: number[]
}

export interface EnvironmentsGone {
  removed: string[]
  bytes: number
  kept: EnvironmentKept[]
}

export interface BuildProgressEvent {
  event: 'progress'
  detail?: string
  done?: number
  total?: number
  unit?: 'bytes'
}

/** The build goes on, in another way than was asked for. */
export interface BuildWarning {
  event: 'warning'
  text: string
}

/** Somebody else holds a lock. */
export interface WaitingEvent {
  event: 'waiting'
  purpose: string
  holder: LockHolder
  text: string
}

/** Nothing new: a caller that has gone is noticed by it. */
export interface StillBuilding {
  event: 'alive'
}

export interface EnvironmentVerbs {
  /** Makes sure that an environment is there. */
  'environment.ensure': {input: EnvironmentWanted; result: EnvironmentMade | ToolMissing; event: BuildProgressEvent | BuildWarning | WaitingEvent | StillBuilding}
  /** Takes a wheel of uv as the body, and unpacks its program. */
  'uv.place': {input: UvWheel; result: UvPlaced; event: never}
  /** Which versions an environment has, or would get. */
  'environment.resolve': {input: ResolveWanted; result: Resolved | ToolMissing; event: BuildProgressEvent | BuildWarning | WaitingEvent | StillBuilding}
  /** Until the caller ends it: this node gets from others what they have downloaded, and gives them what it has. */
  'environment.share': {input: ShareWanted; result: Record<string, unknown>; event: ShareOpen}
  /** What `environment.ensure` would do. */
  'environment.plan': {input: EnvironmentContent; result: EnvironmentPlanned; event: never}
  /** Every environment of the node. */
  'environment.list': {input: null; result: EnvironmentEntry[]; event: never}
  /** Something uses no environment any more; tells the hashes that it used. */
  'environment.release': {input: EnvironmentUse; result: EnvironmentsReleased; event: never}
  /** Removes what nothing uses and nothing runs from. */
  'environment.remove': {input: EnvironmentsUnwanted; result: EnvironmentsGone; event: WaitingEvent}
}

// Workspaces: a project's place on a node. Generated from protocol/workspace.json by `npm run protocol`.
import type {EnvironmentContent, EnvironmentPlanned, WaitingEvent} from './environment.ts'
import type {ImageUsed} from './image.ts'
import type {Compared, SyncQuestion} from './sync.ts'

export interface WorkspaceQuestion extends SyncQuestion {
  environment?: EnvironmentContent
}

export interface EnvironmentOfWorkspace extends EnvironmentPlanned {
  noted: boolean
}

export interface WorkspaceInspected {
  sync: Compared
  /** That its programs run in now. */
  image?: ImageUsed
  environment?: EnvironmentOfWorkspace
  /** It is saved by itself now. */
  autosave?: boolean
}

export interface ProjectName {
  project?: string
}

export interface EnvironmentInUse {
  hash: string
  path: string
  python: string
  ready: boolean
  built?: boolean
}

/** What runs in a workspace; `run` is the run that it belongs to. */
export interface WorkspaceProcess {
  pid: number
  command: string
  run: string | null
}

export interface WorkspaceEntry {
  project: string
  /** Absolute: the workspace's folder. */
  path: string
  /** Absolute: the code in it. */
  code: string
  owner: string | null
  source: string | null
  /** Seconds since 1970; null before the first sync. */
  synced_at: number | null
  files: number | null
  environment: EnvironmentInUse | null
  /** That its programs run in; null: the node's own files. */
  image: ImageUsed | null
  /** Words that start a program in an image or a sandbox; an EnterOrder as JSON, `--` and the program's words follow. */
  enter: string[]
  processes: WorkspaceProcess[]
}

export interface WorkspaceEnd {
  project: string
  grace?: number
  owner?: string
  dry_run?: boolean
  /** What was saved of it goes, too. */
  history?: boolean
}

export interface RunningProcess {
  pid: number
  command: string
}

export interface WorkspaceStopped {
  ended: RunningProcess[]
  survived: number[]
}

export interface SshHostQuestion {
  project: string
  dry_run?: boolean
}

export interface SshHostFound {
  /** The public half, as a line of known_hosts has it; null where there is none yet. */
  host_key: string | null
  /** The account on the node. */
  user: string
}

/** The first line that ssh_session.py reads: for one connection. */
export interface SshSession {
  project: string
  /** The public key that is let in, ed25519. */
  key: string
  /** Of everything that runs. */
  env: Record<string, string>
  /** For sh: runs what the client asks for, in the workspace. */
  script: string
}

export interface WorkspaceRemoved {
  ended: RunningProcess[]
  removed: string | null
  files: number
  bytes: number
}

/** A folder that an editor keeps on the node. */
export interface EditorLeft {
  editor: 'vscode' | 'cursor' | 'windsurf' | 'zed' | 'jetbrains'
  path: string
  /** On the disk. */
  bytes: number
  /** Pids that run from there. */
  processes: number[]
  removed: boolean
}

export interface EditorsQuestion {
  /** Editors whose folders go. */
  remove?: string[]
}

export interface EditorsLeft {
  editors: EditorLeft[]
}

export interface WorkspaceVerbs {
  /** What editors have left in the account's home on a node. */
  'workspace.editors': {input: EditorsQuestion; result: EditorsLeft; event: never}
  /** What has to travel and to be built, in one call. */
  'workspace.inspect': {input: WorkspaceQuestion; result: WorkspaceInspected; event: never}
  /** The workspaces of the node: all, or that of one project. */
  'workspace.list': {input: ProjectName; result: WorkspaceEntry[]; event: never}
  /** The host key of a workspace for SSH, made where there is none. */
  'workspace.ssh_host': {input: SshHostQuestion; result: SshHostFound; event: WaitingEvent}
  /** Ends what runs in a workspace. */
  'workspace.stop': {input: WorkspaceEnd; result: WorkspaceStopped; event: never}
  /** Removes a workspace. */
  'workspace.remove': {input: WorkspaceEnd; result: WorkspaceRemoved; event: WaitingEvent}
}

// What a run is started with; a node keeps it as spec.json. Generated from protocol/order.json by `npm run protocol`.
import type {BoundVolume, Isolate} from './image.ts'

/** What starts the ranks of a run. */
export type Launcher = 'torchrun' | 'accelerate' | 'deepspeed' | 'ray' | 'mpi' | 'plain'

export interface CheckpointOrder {
  path: string
  marker?: string
  copies?: number
}

export interface HangOrder {
  after: number
  action: 'report' | 'restart' | 'stop'
}

export interface GangSize {
  min: number
  max: number
}

/** How the nodes of a run find and trust each other. */
export interface GangOrder {
  secret: string
  address?: string
  port?: number
  /** Seconds of silence after which a node is taken for lost. */
  lost?: number
  /** Under Slurm: the port that the leader takes. */
  listen?: number
  timeout?: number
}

export interface ReservationHeld {
  lease: string
  fence?: number
}

/** What was chosen for a rank: GPUs by UUID, CPUs and memory, or leased GPUs as `GPU0 of gpu2`. */
export interface RankPlace {
  gpus: string[]
  cpus: string | null
  memory: number[]
  leased?: string[]
}

/** Leases of the GPU daemons that the run's supervisor holds. Absolute paths. */
export interface HeldLeases {
  /** flexrack-lease-keeper. */
  keeper: string
  file: string
  folder: string
  libraries: string | null
  env: Record<string, string>
}

export interface TrackingOrder {
  upstream: string
  ca?: string
  token: string
  authorization: string | null
  own_token: boolean
  run_id: string
  experiment_id: string
  artifact_uri: string
}

export interface ArrayTask {
  name: string
  task: number
}

/** What is asked of Slurm, as far as the node needs it. */
export interface SlurmOrder {
  nodes: number
  requeue?: true
  interface?: string
  bin?: string
  array?: ArrayTask
  /** In the spec of a part of the job, with what follows: Slurm's number. */
  job?: string | null
  reaches_all?: boolean
  start?: number
}

/** The code that a run has; all but the first is known once it has begun. */
export interface RunCode {
  workspace: string
  /** SHA-256 over paths, modes and contents. */
  digest?: string
  files?: number
  bytes?: number
  /** Of the history of its workspace on this node: exactly this. */
  snapshot?: string
  /** Why there is none, where the workspace is saved by itself. */
  unsaved?: string
  /** Folders from which a project is imported that its environment has editable. */
  imports?: string[]
}

export interface RunData {
  name: string
  digest: string
}

/** What is copied to each node before the run. */
export interface RunInput {
  /** Below FLEXRACK_INPUTS. */
  name: string
  /** REMOTE:PATH, as rclone takes it. */
  from: string
}

/** What goes to a bucket before the run is over. */
export interface RunUpload {
  /** REMOTE:PATH; a folder with the run's id is made there. */
  to: string
  /** Below FLEXRACK_OUTPUTS: files, and folders with a trailing slash; none: all. */
  files: string[]
}

/** What a run began with, as its starter said: a run by its id, or a model version. */
export interface RunParent {
  kind: 'run' | 'model'
  /** A run's id; of a model `digits/3`. */
  name: string
  /** SHA-256 of the run's record, or of the version's file. */
  digest?: string
}

/** What the command knows that starts a run, and its nodes do not. */
export interface RunOrigin {
  /** Of flexrack there. */
  version: string
  /** Its host name. */
  machine: string
  rack: string
  /** What came after the manifest's command. */
  arguments: string[]
  parents?: RunParent[]
}

export interface RunOrder {
  run: string
  project: string
  /** Slurm places it. */
  scheduler?: 'slurm'
  slurm?: SlurmOrder
  node: string
  /** Position in the gang; 0 leads at first. */
  index: number
  nodes: string[]
  launcher: Launcher
  /** Ranks a node. */
  processes: number
  command: string[]
  /** Path of the Python that has its packages. */
  python: string
  /** Digest of the workspace's image, in which the launcher and the ranks run. */
  image?: string
  /** The launcher and the ranks run in a sandbox. */
  isolate?: Isolate
  /** The image that its ranks run in. */
  container?: string
  /** Hash of its environment. */
  environment: string | null
  cwd: string
  /** Its ranks run in a view of this workspace that later changes do not reach; absent: in `cwd` itself. */
  code?: RunCode
  env: Record<string, string>
  /** Versions of data sets that its ranks find below FLEXRACK_DATA. */
  data?: RunData[]
  /** Folders of the node that its ranks may have, told as FLEXRACK_VOLUME_NAME. */
  volumes?: BoundVolume[]
  inputs?: RunInput[]
  uploads?: RunUpload[]
  /** Sections of rclone.conf that these need. Secret; never in spec.json. */
  remotes?: string
  /** How often all ranks are started again. */
  restarts: number
  checkpoint?: CheckpointOrder
  /** It goes on after a reboot of its nodes: from its newest whole checkpoint alone, or where there is none from the beginning. Absent: it does not. */
  after_reboot?: 'checkpoint' | 'anew'
  /** Attempts in a row without progress after which none is made any more. */
  without_progress?: number
  size?: GangSize
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
  /** Seconds after which it is ended. */
  time_limit?: number
  /** It makes room where the head says so, and goes on from its checkpoint when it is its turn again. */
  preemptible?: true
  /** False: ranks are not to tell of themselves. */
  watch?: boolean
  /** Steps of the optimizer that each rank records with torch.profiler, after others; of these the last warms the profiler up. */
  profile?: {
    skip: number
    steps: number
  }
  hang?: HangOrder
  /** Between two samples of what is used of the machine; the node's own choice where absent. */
  sample_seconds?: number
  /** Folder of node_exporter's textfile collector: numbers of the run are kept there while it goes. */
  textfile?: string
  /** Folder of dcgm-exporter's job mapping: which GPUs the run has is told there while it goes. */
  dcgm?: string
  /** Files and folders that are kept as artifacts. */
  outputs: string[]
  /** Its own address within the gang. */
  address?: string
  /** Nodes of the gang on its machine. */
  neighbours?: number
  gang: GangOrder
  reservation?: ReservationHeld
  placed?: RankPlace[]
  leases?: HeldLeases
  commit: string | null
  /** Seconds since 1970. */
  created: number
  tracking: TrackingOrder | null
  /** Who starts it. */
  owner: string
  /** For its record; older commands do not say it. */
  origin?: RunOrigin
}

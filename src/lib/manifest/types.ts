import type {Launcher} from '../protocol/index.ts'
import type {HangSpec} from './hang.ts'

/** The validated manifest: defaults filled in, names in camelCase. Keys in the file are snake_case. */
export interface Manifest {
  /** Absolute path of flexrack.yaml. */
  path: string
  /** Absolute path of the project folder. */
  folder: string
  name: string
  /** Name or path of the rack file, where the project prefers one. */
  rack?: string
  workspace: WorkspaceSpec
  /** What `attach` asks for where no flag says otherwise. */
  gpus?: GpusSpec
  train?: TrainSpec
  /** What `sweep` tries. */
  sweep?: SweepSpec
  /** Data sets of its runs: name, or name@beginning of a digest. */
  data?: string[]
  /** Volumes of the rack that its programs may have. */
  volumes?: VolumeWish[]
  tracking: TrackingSpec
  endpoints: Record<string, EndpointSpec>
}

export interface VolumeWish {
  name: string
  write: boolean
}

export interface WorkspaceSpec {
  /** Requirements file, relative to the folder; none means the node's bare Python in an empty environment. */
  python?: string
  /** Python of the environment, such as 3.12; the node's python3 by default. */
  pythonVersion?: string
  /** Container image that its programs run in: as written. */
  image?: string
  /** They run in a sandbox. */
  isolate?: IsolateSpec
  /** Its node saves it by itself. */
  autosave?: AutosaveSpec
  /** .gitignore-style patterns, besides the project's own .gitignore files. */
  exclude: string[]
  /** Ports on the node that `workspace forward` brings here. */
  forward: number[]
  /** Environment variables for everything that runs in the workspace. */
  env: Record<string, string>
}

export interface AutosaveSpec {
  /** Seconds. */
  every: number
  /** Bytes of a file that was made on the node. */
  largest?: number
}

/** What a sandboxed program may have. */
export interface IsolateSpec {
  network: 'none' | 'host'
  /** Bytes. */
  memory?: number
  pids?: number
  cpus?: number
}

export interface GpusSpec {
  count: number
  /** As written, `8GiB`: the share of each device. Neither this nor a fraction: whole devices. */
  memory?: string
  fraction?: number
  cap: boolean
  /** Takes turns on one device with others that do; of `gpus` only. */
  oversubscribe?: boolean
  api?: 'cuda' | 'opencl'
}

/** How the GPUs of a run's ranks may be leased. */
export interface LeasedSpec extends Omit<GpusSpec, 'count'> {
  /** GPUs of other nodes will do, where a node has too few free ones. */
  remote: boolean
}

export interface TrainSpec {
  /** Shell-like words: the script (or -m module) and its arguments. */
  command: string[]
  launcher: Launcher
  /** How many nodes; the most, where there may be fewer. */
  nodes: number
  /** The fewest, where there may be fewer than `nodes`. */
  minNodes?: number
  /** Nodes more that take the place of lost ones. */
  spares?: number
  processesPerNode: number
  /** How often flexrack starts the whole gang again after a failure. */
  restarts: number
  /** Attempts in a row without progress after which none is made any more. */
  withoutProgress?: number
  /** It goes on after a reboot: from a checkpoint alone, or from the beginning where there is none. */
  afterReboot?: 'checkpoint' | 'anew'
  checkpoint?: CheckpointSpec
  /** Files and folders (trailing /), relative to the project, fetched and logged as artifacts. */
  outputs: string[]
  /** Copied to nodes before: by name, REMOTE:PATH. */
  inputs?: Record<string, string>
  /** Copied to buckets before it is over. */
  uploads?: {to: string; files: string[]}[]
  env: Record<string, string>
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
  /** Seconds after which it is ended. */
  timeLimit?: number
  /** Among those that wait for the same; 0 where it says nothing. */
  priority?: number
  /** It makes room for who comes first. */
  preemptible?: true
  /** False: ranks are not to tell of themselves. */
  watch?: boolean
  /** Undefined: hangs are reported, after the node program's own time. */
  hang?: HangSpec | undefined
  /** No other run on its nodes. */
  exclusive?: boolean
  /** Other runs may use the nodes' GPUs at the same time. */
  shareGpus?: boolean
  /** GPUs of each rank; undefined: none are chosen, and every rank sees all of its node. */
  gpus?: number
  /** That these are shares, or may be of other nodes: leases of the GPU daemons. */
  leased?: LeasedSpec
  /** Who places the run; undefined: Slurm where the rack has it. */
  scheduler?: Scheduler
  /** What a job of Slurm needs besides. */
  slurm?: SlurmSpec
}

/**
 * Which files below FLEXRACK_OUTPUTS are checkpoints, and when one is whole; see node/flexrack_node/link/checkpoint.py.
 */
export interface CheckpointSpec {
  path: string
  marker?: string
  /** Other nodes that keep a copy while the ranks train. */
  copies?: number
}

export type Scheduler = 'ssh' | 'slurm'

/** Per node where nothing else is said. Undefined: Slurm's, or the rack's, default. */
export interface SlurmSpec {
  /** As `--time` takes it. */
  time?: string
  partition?: string
  account?: string
  qos?: string
  /** `4` or `a100:4`. */
  gpus?: string
  cpus?: number
  /** As `--mem` takes it: `64G`. */
  memory?: string
  constraint?: string
  exclusive: boolean
  /** Undefined: where a checkpoint is declared. */
  requeue?: boolean
  /** Ranks run in this image, by pyxis. */
  container?: ContainerSpec
  /** More options of sbatch, `--name=value` each. */
  extra: string[]
}

export interface ContainerSpec {
  /** As pyxis takes it: `nvcr.io#nvidia/pytorch:24.10-py3`, or a .sqsh file. */
  image: string
  /** `/from:/to` or `/from:/to:ro`, besides the folders that a run needs. */
  mounts: string[]
}

/** A search over parameters of the training command. */
export interface SweepSpec {
  /** Metric of the tracking server. */
  metric: string
  goal: 'maximize' | 'minimize'
  sampler: 'grid' | 'random' | 'tpe' | 'cmaes' | 'qmc' | 'gp'
  pruner: {
    name: 'none' | 'asha' | 'hyperband' | 'median'
    warmup?: number
    reduction?: number
    startup?: number
    steps?: number
  }
  /** Undefined: the whole grid, else 20. */
  trials?: number
  parallel: number
  /** Seconds after which no trial is started any more. */
  time?: number
  seed?: number
  parameters: Record<string, ParameterSpec>
  /** Words after train.command, with `{name}` for values; undefined: a flag for each. */
  arguments?: string[]
}

export type ParameterSpec =
  | {choices: (number | string | boolean)[]}
  | {min: number; max: number; step?: number; log: boolean; integer: boolean}

export interface TrackingSpec {
  /** An MLflow server that is already there; undefined means the rack's head. */
  uri?: string
  /** Experiment name; the project's name by default. */
  experiment: string
}

export interface EndpointSpec {
  /** `name@alias`, `name/version` or `name` (newest). */
  model: string
  /** Name of a recipe: `onnx`; undefined: what fits the model. */
  runtime?: string
  replicas: number
  /** From so many to `replicas`, as the head chooses. */
  minReplicas?: number
  scale?: Partial<ScaleSpec>
  /** Of each server. */
  gpus?: ServerGpusSpec
  /** Bytes of its node's memory. */
  memory?: number
  /** Of the runtime `custom`. */
  server?: ServerSpec
  /** Origins of pages that may call it from a browser; `*`: of all. */
  cors?: string[]
  /** Only models that one of these has signed: absolute path of an allowed_signers file. */
  signers?: string
}

/** What a model server leases when it starts; of other nodes, too, where `remote`. */
export interface ServerGpusSpec extends GpusSpec {
  remote: boolean
}

/** By what the head chooses how many model servers there are. */
export interface ScaleSpec {
  /** Requests under way and waiting that one server is to have. */
  target: number
  /** Seconds without a request until the last one ends. */
  idle: number
  /** Seconds for which fewer have to do before one ends. */
  down: number
}

/** A model server of the project's own. */
export interface ServerSpec {
  /** Words, with placeholders. */
  command: string[]
  protocol: 'v2' | 'openai' | 'mlflow'
  ready: {path: string; seconds: number}
}

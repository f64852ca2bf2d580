import type {Tracking} from '../head/index.ts'
import type {CheckpointSpec, IsolateSpec, Manifest, Scheduler, SlurmSpec, TrainSpec} from '../manifest/index.ts'
import type {CheckName} from '../preflight/index.ts'
import type {LeaseWish, NodeReason, PlacedRank} from '../placement/index.ts'
import type {BoundVolume, RunData, RunInput, RunOrigin, RunParent, RunUpload, Wants} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Workspace} from '../workspace/index.ts'
import type {Source} from './source.ts'

export interface TrainPlace {
  manifest: Manifest
  rack: Rack
  fleet: Fleet
}

/** What the command line says besides the manifest. */
export interface TrainChoice {
  /** A number, or a range such as `2..8`. */
  nodes?: number | string | undefined
  /** Nodes more that take the place of lost ones. */
  spares?: number | undefined
  processesPerNode?: number | undefined
  /** Node selector. */
  on?: string | undefined
  /** Node selector: those are left out. */
  exclude?: string | undefined
  /** GPUs of each rank; then nodes, GPUs and CPUs are chosen by how they are wired. */
  gpus?: number | undefined
  /** Arguments after `--`: come after those of the manifest's command. */
  args: string[]
  /** What it begins with, as its record is to say. */
  parents?: RunParent[] | undefined
  /** Beginning of the run's id, instead of the project's name. */
  name?: string | undefined
  tracking: boolean
  /** The whole id, instead of one that is made. */
  run?: string | undefined
  /** Variables of its processes, over those of the manifest. */
  env?: Record<string, string> | undefined
  /** What was done once for several runs: it is not done again. */
  shared?: SharedStart | undefined
  /** Instead of the manifest's. */
  scheduler?: Scheduler | undefined
  exclusive?: boolean | undefined
  shareGpus?: boolean | undefined
  /** Seconds to stand in line for nodes that others have: Infinity without end, absent not at all. */
  wait?: number | undefined
  /** Steps that each rank records with torch.profiler, after others. */
  profile?: ProfileChoice | undefined
  /** Tell in the plan who has the nodes now. */
  look?: boolean | undefined
  /** What is looked at before anything starts; everything by default. */
  preflight?: PreflightChoice | undefined
}

/**
 * Runs of one command, such as trials of a sweep, share what does not depend on the single one, and so start quickly.
 */
export interface SharedStart {
  /** By node, up to date. */
  workspaces: ReadonlyMap<string, Workspace>
  /** Open, and left open. */
  tracking: Tracking
  /** Of the record of each. */
  tags: Record<string, string>
  /** Where the code comes from. What differs from the commit was recorded already. */
  source: Source
}

/** Numbers of an optimizer's steps. */
export interface ProfileChoice {
  skip: number
  steps: number
}

export interface PreflightChoice {
  /** Checks that are left out. */
  skip: CheckName[]
  /** Goes on in spite of errors. */
  force: boolean
}

/** Ranks of a run on one node. */
export interface Placement {
  node: RackNode
  /** Position in the gang; 0 leads. */
  index: number
  /** Empty: a spare, which takes the place of a node that is lost. */
  ranks: number[]
  /** GPUs, CPUs and card of each rank, where they were chosen. */
  placed?: PlacedRank[]
}

/** How the nodes were chosen: a reason for each node of the rack. */
export interface ChosenPlacement {
  /** Others have some of it now: the run stands in line. */
  waits: boolean
  reasons: NodeReason[]
}

/** Everything about a run that is known before anything is done. */
export interface RunSpec {
  run: string
  project: string
  launcher: TrainSpec['launcher']
  command: string[]
  processes: number
  worldSize: number
  restarts: number
  withoutProgress?: number
  /** It goes on after a reboot: from a checkpoint alone, or from the beginning where there is none. */
  afterReboot?: 'checkpoint' | 'anew'
  checkpoint?: CheckpointSpec
  /**
   * How many nodes an attempt has at least and at most, where `placements` may be more or fewer: spares, elastic size.
   */
  size?: {min: number; max: number; spares: number}
  grace: number
  /** Seconds after which it is ended. */
  timeLimit?: number
  priority?: number
  /** It makes room where the head says so, and goes on later. */
  preemptible?: true
  /** As the manifest has it, for spec.json. */
  watched: Pick<TrainSpec, 'watch' | 'hang'> & {profile?: ProfileChoice; textfile?: string; dcgm?: string}
  outputs: string[]
  env: Record<string, string>
  placements: Placement[]
  /** What is reserved on each of its nodes; the GPUs that were chosen are in `placements`, see wantsOn. */
  wants: Wants
  /** GPUs of each rank, where the manifest or the command line says so. */
  gpus?: number
  /** Those are leases of the GPU daemons, or may be. */
  leased?: LeaseWish & {cap: boolean}
  /** The nodes that are chosen from, where GPUs or the number of nodes are. */
  among?: RackNode[]
  /** Nodes to be taken instead of those that turn out to be dead, in order. */
  instead?: RackNode[]
  chosen?: ChosenPlacement
  /** Data sets that its ranks find, as versions. */
  data: RunData[]
  /** Folders of the nodes that its ranks may have. */
  volumes: BoundVolume[]
  /** Copied to its nodes before. */
  inputs: RunInput[]
  /** Copied from them before it is over. */
  uploads: RunUpload[]
  experiment: string
  tracked: boolean
  /** For its record: what its nodes do not know. */
  origin: Pick<RunOrigin, 'rack' | 'arguments' | 'parents'>
  /** Its ranks run in a sandbox. */
  isolate?: IsolateSpec
  /** Slurm places it; `placements` then has the login node alone, with all ranks. */
  slurm?: SlurmRequest
}

/** What is asked of Slurm for a run: the manifest's wishes over the rack's defaults. */
export interface SlurmRequest extends SlurmSpec {
  /** How many nodes; the most, where there may be fewer. */
  nodes: number
  minNodes?: number
  cpus: number
  /** Slurm starts the job again where it ended it for another one, or for a node that failed. */
  requeue: boolean
  interface?: string
  /** Folder of Slurm's programs. */
  bin?: string
}

/** Address of each node within the gang, and how many nodes of the gang share its machine. */
export type GangAddresses = Record<string, {address: string; neighbours: number}>

import type {Context} from '../../base/index.ts'
import type {BucketKinds} from '../../bucket/index.ts'
import type {DataKinds} from '../../data/index.ts'
import type {RunLeases} from '../../gpu/index.ts'
import type {ClaimWish, QuotaSum, Tracking} from '../../head/index.ts'
import type {LeasedGpu} from '../../placement/index.ts'
import type {FromEnv, FromStep, Outputs, PlanOf, StepOf} from '../../plan/index.ts'
import type {CheckName, PreflightResult} from '../../preflight/index.ts'
import type {HeldLeases, NodeRun, Reservation, TrackingOrder, Wants} from '../../protocol/index.ts'
import type {Rack} from '../../rack/index.ts'
import type {GangReservation} from '../../reservation/index.ts'
import type {Fleet} from '../../ssh/index.ts'
import type {VolumeKinds} from '../../volume/index.ts'
import type {WorkspaceEnv, WorkspaceKinds} from '../../workspace/index.ts'
import type {Source} from '../source.ts'
import type {SlurmPart, SpecTemplate, SshPart, Unfilled} from '../spec.ts'
import type {TrackedStart} from '../track.ts'
import type {ChosenPlacement, GangAddresses, RunSpec, SlurmRequest} from '../types.ts'

export type ReachInput = {
  /** null: the rack's head. */
  uri: string | null
  project: string
}

export type ReserveInput = {
  /** The tracking server, where the run is tracked: a head is asked whose turn it is. */
  server: FromStep | FromEnv | null
  /** The run's id. */
  lease: string
  project: string
  nodes: string[]
  /** On each of them. */
  wants: Record<string, Wants>
  /** GPUs that it has in all, shares added up; null: all of its nodes. */
  gpus: number | null
  /** Seconds that it takes at most, where it declares that. */
  limit: number | null
  /** Among those that wait for the same. */
  priority: number
  /** It makes room for who comes first. */
  preemptible?: true
  /** Seconds to stand in line; null: not at all. */
  wait: number | 'forever' | null
  /** Why these nodes. Told, not acted on. */
  placement?: ChosenPlacement
  /** Limits that count for it, and what it would come to. Told, not acted on. */
  sums?: QuotaSum[]
  /** Who has what there now. Told, not acted on. */
  held?: (Reservation & {at: string})[]
}

export interface Reserved {
  reservation: GangReservation
  /** Fencing number by node. */
  fences: Record<string, number>
  /** What it has, for the head. */
  claim: ClaimWish
}

export type RouteInput = {
  /** The first leads. `address`: what the rack file says. */
  nodes: {name: string; address?: string}[]
}

export type PreflightInput = {
  nodes: string[]
  checks: CheckName[]
  skipped: CheckName[]
  /** Goes on in spite of errors. */
  force: boolean
  /** Ranks a node. */
  processes: number
  project: string
  mpi: boolean
  /** UUIDs that the run uses, by node; null: all. */
  gpus: Record<string, string[]> | null
  /** null: a node alone. */
  addresses: FromStep | null
}

export type TrackInput = {
  server: FromStep | FromEnv
  /** What the run has reserved; null: Slurm places it. */
  claim: FromStep | null
  run: string
  experiment: string
  /** What is known before; the code's commit and branch, and who starts it, come on top. */
  tags: Record<string, string>
  user: FromEnv
  /**
   * The folder whose git tells where the code comes from, and what differs from its commit; or that is known, and
   * recorded, already.
   */
  source: {folder: string} | FromEnv
  /** Recorded as the run's inputs. */
  data: RecordedData[]
}

/** A version of a data set, and where it was added from. */
export type RecordedData = {name: string; digest: string; source: string}

/** A run's record, and what of it spec.json has. */
export interface Tracked {
  server: Tracking
  record: TrackedStart
  commit: string | null
  /** As spec.json has it. Holds secrets. */
  spec: Unfilled<TrackingOrder>
}

export type LeaseInput = {
  node: string
  run: string
  /** By rank of the node. */
  devices: LeasedGpu[][]
  wish: NonNullable<RunSpec['leased']>
}

export type StartInput = {
  ranks: number[]
  /** Its hold on the node becomes the supervisor's. */
  reservation: FromStep
  spec: SpecTemplate<SshPart>
}

export interface Started {
  run: NodeRun
  /** Where the leader listens for the others; 0: nowhere, because it is alone or over already. */
  port: number
  /** It has not answered, and the others have begun: whether it has the run is not known. */
  unheard: boolean
}

export type SubmitInput = {
  ranks: number[]
  slurm: SlurmRequest
  script: string
  spec: SpecTemplate<SlurmPart>
}

export type TrainKinds = WorkspaceKinds &
  DataKinds &
  VolumeKinds &
  BucketKinds & {
    'train.reach': {input: ReachInput; output: Tracking}
    'train.reserve': {input: ReserveInput; output: Reserved}
    'train.route': {input: RouteInput; output: GangAddresses}
    'train.preflight': {input: PreflightInput; output: PreflightResult}
    'train.track': {input: TrackInput; output: Tracked}
    'train.lease': {input: LeaseInput; output: RunLeases & {held: HeldLeases}}
    'train.start': {input: StartInput; output: Started}
    'train.submit': {input: SubmitInput; output: NodeRun}
  }

export type TrainStep = StepOf<TrainKinds>
export type TrainSteps = PlanOf<TrainKinds>
export type Done = Outputs<TrainKinds>

/** What steps need besides the plan: connections, what was read already, and what is nobody's business to print. */
export interface TrainEnv extends WorkspaceEnv {
  /** Of which project what is brought counts for quotas. */
  project?: string
  rack: Rack
  fleet: Fleet
  /** By name: variables of the ranks. */
  variables: Record<string, string>
  /** Sections of rclone.conf. */
  remotes: string
  /** The gang's own. */
  secret: string
  /** Who starts it, with which flexrack, on which machine. */
  user: string
  version: string
  machine: string
  /** Of runs that share a start. */
  shared?: {tracking: Tracking; source: Source}
  context: Context
}

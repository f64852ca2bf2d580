import type {Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Environment, Host} from '../host/index.ts'
import type {SweepSpec} from '../manifest/index.ts'
import type {FromStep} from '../plan/index.ts'
import type {CheckName} from '../preflight/index.ts'
import type {Trial} from '../protocol/index.ts'
import type {SharedStart, TrainPlace} from '../train/index.ts'
import type {Workspace, WorkspaceEnv, WorkspaceKinds} from '../workspace/index.ts'
import type {Engine} from './engine.ts'
import type {Room} from './packing.ts'
import type {SweepWatch} from './types.ts'

export type SweepPreflightInput = {
  nodes: string[]
  checks: CheckName[]
  skipped: CheckName[]
  /** Goes on in spite of errors. */
  force: boolean
}

export type EngineStepInput = {
  node: string
  /** Says which packages it needs: locks/. */
  sampler: SweepSpec['sampler']
}

export type OpenInput = {
  node: string
  sweep: string
  /** Path of the Python that has Optuna. */
  python: FromStep
  tracking: FromStep
  project: string
  spec: SweepSpec
  /** The training command, without what the trials add. */
  command: string[]
  experiment: string
  /** The record above the trials' of a sweep that goes on; null: both are made. */
  resumed: string | null
}

/** A sweep that is ours alone. */
export interface Opened {
  engine: Engine
  /** Those that there are. */
  trials: Trial[]
  /** How many there are to be. */
  limit: number
  /** The record above the trials'. */
  tracked: string
  shared: Omit<SharedStart, 'workspaces'>
}

export type TrialsInput = {
  sweep: string
  spec: SweepSpec
  command: string[]
  /** At the same time. */
  parallel: number
  /** Threads of a process, where trials share cores; null: their own choice. */
  threads: number | null
  /** Nodes by whose cores trials are placed; null where GPUs, or Slurm, say what fits. */
  rooms: {nodes: Room[]; size: number; processes: number} | null
  /**
   * Where trials are jobs of Slurm: their login node, and below which number tasks of an array must be. `together`: all
   * of them are one array.
   */
  slurm: {node: string; arrays: number; together: boolean} | null
  on: string | null
  exclude: string | null
  /** Of the nodes, up to date by then. */
  workspaces: Workspace[]
  opened: FromStep
}

export type SweepKinds = WorkspaceKinds & {
  'sweep.reach': {input: {uri: string | null}; output: Tracking}
  'sweep.preflight': {input: SweepPreflightInput; output: void}
  'sweep.engine': {input: EngineStepInput; output: Environment & {python: string}}
  'sweep.open': {input: OpenInput; output: Opened}
  'sweep.trials': {input: TrialsInput; output: void}
}

export interface SweepEnv extends WorkspaceEnv {
  host(node: string): Host
  place: TrainPlace
  watch: SweepWatch
  /** What the others are told of whoever drives it. */
  driver: string
  /** The record above the trials', and the code's source: made once, also where connections are lost. */
  parent: Partial<{tracked: string; source: SharedStart['source']}>
  /** To be closed however it ends. */
  engines: Engine[]
  context: Context
}

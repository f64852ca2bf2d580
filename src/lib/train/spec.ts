import type {Secret} from '../base/index.ts'
import {fromEnv, fromStep, type FromEnv, type FromStep} from '../plan/index.ts'
import type {BoundVolume, RunData, RunInput, RunUpload} from '../protocol/index.ts'
import type {Workspace} from '../workspace/index.ts'
import type {RunSpec} from './types.ts'

/** A value of spec.json, or what says where it comes from once it is known. */
type Later<T> = T | FromStep | FromEnv

/** What may still be missing of data that is filled in when it is sent: anything in it. */
export type Unfilled<T> =
  | T
  | FromStep
  | FromEnv
  | (T extends string ? Secret : T extends object ? {[K in keyof T]: Unfilled<T[K]>} : never)

/**
 * What every spec.json has, whoever places the run: the part that each node's supervisor (node/flexrack_node) reads
 * from its run's folder.
 */
type CommonSpec = {
  run: string
  project: string
  node: string
  index: number
  nodes: string[]
  launcher: RunSpec['launcher']
  processes: number
  command: string[]
  python: string
  environment: string | null
  image?: string
  isolate?: NonNullable<RunSpec['isolate']>
  cwd: string
  /** Its ranks get a view of this workspace as it is when they start. */
  code: {workspace: string}
  /** Values may be secrets: they are not part of a plan. */
  env: Record<string, FromEnv>
  data?: RunData[]
  volumes?: BoundVolume[]
  inputs?: RunInput[]
  uploads?: RunUpload[]
  /** Of rclone.conf. */
  remotes?: FromEnv
  restarts: number
  without_progress?: number
  after_reboot?: 'checkpoint' | 'anew'
  checkpoint?: NonNullable<RunSpec['checkpoint']>
  size?: {min: number; max: number}
  grace: number
  time_limit?: number
  preemptible?: true
  watch?: boolean
  hang?: NonNullable<RunSpec['watched']['hang']>
  profile?: NonNullable<RunSpec['watched']['profile']>
  textfile?: string
  dcgm?: string
  outputs: string[]
  commit: Later<string | null>
  created: FromEnv
  owner: FromEnv
  origin: RunSpec['origin'] & {version: FromEnv; machine: FromEnv}
  tracking: Later<null>
}

/** What a run on nodes of the rack has besides. */
export type SshPart = {
  address: Later<string>
  neighbours: Later<number>
  gang: {secret: FromEnv; address: Later<string>; port: Later<number>; timeout: number}
  reservation: {lease: string; fence: FromStep}
  placed?: {gpus: string[]; cpus: string | null; memory: number[]; leased?: string[]}[]
  leases?: FromStep
}

/** What a job of Slurm has besides; each of its nodes adds its own part (slurm/step.py). */
export type SlurmPart = {
  scheduler: 'slurm'
  slurm: {nodes: number; requeue?: true; interface?: string; bin?: string}
  gang: {secret: FromEnv}
  container?: string
}

export type SpecTemplate<Part> = CommonSpec & Part

/** Where a node's ranks run, and which node of the run it is. */
export interface SpecPlace {
  node: string
  index: number
  nodes: string[]
  workspace: Workspace | undefined
  /** Ranks run in an image: its Python, and no environment of ours. */
  inContainer?: boolean
}

/** spec.json of one node as far as it is known before anything is done; what is known later is a reference. Pure. */
export function specTemplate<Part extends SshPart | SlurmPart>(
  spec: RunSpec,
  {node, index, nodes, workspace, inContainer = false}: SpecPlace,
  part: Part,
): SpecTemplate<Part> {
  if (!workspace) throw new Error(`a run on ${node} without its workspace`)
  const {environment} = workspace
  const {hang, ...watched} = spec.watched
  return {
    run: spec.run,
    project: spec.project,
    node,
    index,
    nodes,
    launcher: spec.launcher,
    processes: spec.processes,
    command: spec.command,
    python: inContainer ? 'python3' : `${environment?.path}/bin/python`,
    environment: inContainer ? null : (environment?.hash ?? null),
    ...(workspace.image && !inContainer && {image: workspace.image.digest}),
    ...(spec.isolate && {isolate: spec.isolate}),
    cwd: workspace.codePath,
    code: {workspace: spec.project},
    env: Object.fromEntries(Object.keys(spec.env).map((name) => [name, fromEnv('variables', name)])),
    ...(spec.data.length > 0 && {data: spec.data}),
    ...(spec.volumes.length > 0 && {volumes: spec.volumes}),
    ...(spec.inputs.length > 0 && {inputs: spec.inputs}),
    ...(spec.uploads.length > 0 && {uploads: spec.uploads}),
    // Over SSH inputs are there when it starts; a job of Slurm gets its own.
    ...((spec.uploads.length > 0 || (spec.inputs.length > 0 && 'scheduler' in part)) && {remotes: fromEnv('remotes')}),
    restarts: spec.restarts,
    ...(spec.checkpoint && {checkpoint: spec.checkpoint}),
    ...(spec.withoutProgress !== undefined && {without_progress: spec.withoutProgress}),
    ...(spec.afterReboot && !('scheduler' in part) && {after_reboot: spec.afterReboot}),
    ...(spec.size && {size: {min: spec.size.min, max: spec.size.max}}),
    grace: spec.grace,
    ...(spec.timeLimit !== undefined && {time_limit: spec.timeLimit}),
    ...(spec.preemptible && !('scheduler' in part) && {preemptible: true}),
    ...watched,
    ...(hang && {hang}),
    outputs: spec.outputs,
    commit: spec.tracked ? fromStep('track', 'commit') : null,
    created: fromEnv('now'),
    owner: fromEnv('user'),
    origin: {...spec.origin, version: fromEnv('version'), machine: fromEnv('machine')},
    tracking: spec.tracked ? fromStep('track', 'spec') : null,
    ...part,
  }
}

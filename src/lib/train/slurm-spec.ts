import {randomBytes} from 'node:crypto'
import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {WorkspacePlan} from '../workspace/index.ts'
import {goingOn} from './place.ts'
import type {SlurmPlaces} from './slurm-script.ts'
import {trackingSpec, userName, type TrackedStart} from './track.ts'
import type {RunSpec, SlurmRequest} from './types.ts'

export type SlurmSpecified = RunSpec & {slurm: SlurmRequest}

/** Where the run's script finds what it starts. */
export function placesOf(host: Host, workspaces: WorkspacePlan, run: string): SlurmPlaces {
  const workspace = workspaces.workspaces.get(host.node)
  return {folder: `${host.root}/runs/${run}`, python: `${workspace?.environment?.path}/bin/python`, step: `${host.program}/slurm/step.py`, root: host.root, code: workspace?.codePath ?? host.root}
}

/** As nodeSpec, of a run that starts now: with its secret, and who starts it. */
export function startedSpec(spec: SlurmSpecified, node: string, workspaces: WorkspacePlan, record: TrackedStart | undefined, context: Context): Record<string, unknown> {
  return {...nodeSpec(spec, node, workspaces, record), gang: {secret: randomBytes(32).toString('hex')}, created: Date.now() / 1000, owner: userName(context)}
}

/** spec.json of the run's folder; each node of the job adds its own part (slurm/step.py). */
export function nodeSpec(spec: SlurmSpecified, node: string, workspaces: WorkspacePlan, record: TrackedStart | undefined): Record<string, unknown> {
  const workspace = workspaces.workspaces.get(node)
  const {nodes, requeue, interface: link, bin} = spec.slurm
  return {
    run: spec.run,
    project: spec.project,
    scheduler: 'slurm',
    slurm: {nodes, ...(requeue && {requeue}), ...(link !== undefined && {interface: link}), ...(bin !== undefined && {bin})},
    node,
    index: 0,
    nodes: [],
    launcher: spec.launcher,
    processes: spec.processes,
    command: spec.command,
    ...(spec.slurm.container ? {container: spec.slurm.container.image, python: 'python3'} : {python: `${workspace?.environment?.path}/bin/python`}),
    environment: spec.slurm.container ? null : (workspace?.environment?.hash ?? null),
    cwd: workspace?.codePath,
    env: spec.env,
    restarts: spec.restarts,
    ...goingOn(spec),
    grace: spec.grace,
    ...spec.watched,
    outputs: spec.outputs,
    commit: record?.commit ?? null,
    tracking: record ? trackingSpec(record) : null,
  }
}

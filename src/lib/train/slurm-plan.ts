import {CliError, nearestName, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Step, StepHandler} from '../plan/index.ts'
import type {NodeRun} from '../runs/index.ts'
import {planWorkspace, type WorkspacePlan} from '../workspace/index.ts'
import {launcherWord} from './mpi.ts'
import {requestRun} from './place.ts'
import type {TrainPlace, TrainPlan} from './plan.ts'
import {startArray} from './slurm-array.ts'
import {slurmScript} from './slurm-script.ts'
import {nodeSpec, placesOf, startedSpec, type SlurmSpecified} from './slurm-spec.ts'
import {createRecord, openTrainTracking} from './track.ts'
import {sharedWorkspaces} from './shared-workspaces.ts'
import type {SharedStart, SlurmRequest, TrainChoice} from './types.ts'

/** What slurm.inspect tells of a login node. */
interface Cluster {
  version: string | null
  partitions: {name: string; default: boolean; nodes: number}[]
  /** Seconds between SIGTERM and SIGKILL where Slurm ends a job. */
  kill_wait: number
  accounting: boolean
  pyxis: boolean
  /** Tasks of an array have numbers below this; 0 without arrays. */
  array: number
}

/** As run_path of node/flexrack_node/run/files.py. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/**
 * Plans a run that Slurm places: the login node's workspace, the tracking record, and sbatch. Looks at the login node and changes
 * nothing. Errors: those of requestRun and planWorkspace; NODE_UNFIT without Slurm there; NOT_FOUND for a partition it has not.
 */
export async function planSlurm(place: TrainPlace, choice: TrainChoice, context: Context): Promise<TrainPlan> {
  const spec = requestRun(place.manifest, place.rack, choice) as SlurmSpecified
  if (!RUN_ID.test(spec.run)) throw new CliError('USAGE', `"${choice.name}" cannot be the beginning of a run's id`, {hint: 'use letters, digits, dots, dashes and underscores'})
  const login = spec.placements[0]?.node
  if (!login) throw new Error('a run of Slurm without its login node')
  const host = await openHost(place.fleet, login, context)
  // Runs that share a start had one before them that was held against this cluster.
  const looked = choice.shared ? undefined : await inspect(spec, host, place, context)
  const workspaces = looked?.workspaces ?? sharedWorkspaces(choice.shared as SharedStart)
  const live: TrainPlan['live'] = {started: [], ...(choice.shared && {tracking: choice.shared.tracking})}
  const where = place.manifest.tracking.uri ?? `the head of rack ${place.rack.name}`
  const reach: Step[] = spec.tracked && !choice.shared ? [{id: 'reach', node: null, kind: 'train.reach', title: `Reach ${where}`, input: {uri: place.manifest.tracking.uri ?? null}, needs: []}] : []
  const before = [...reach, ...workspaces.plan.steps.map((step) => ({...step, needs: [...step.needs, ...reach.map((one) => one.id)]}))]
  const track: Step[] = spec.tracked
    ? [{
        id: 'track', node: null, kind: 'train.track', title: `Record run ${spec.run} in experiment ${spec.experiment} at ${where}`,
        input: {run: spec.run, experiment: spec.experiment, uri: place.manifest.tracking.uri ?? null}, needs: before.map((step) => step.id),
      }]
    : []
  const script = slurmScript(spec, placesOf(host, workspaces, spec.run))
  const submit = submitStep(spec, login.name, script, [...before, ...track])
  return {
    spec,
    plan: {command: 'train', steps: [...before, ...track, submit]},
    handlers: {...workspaces.handlers, ...makeHandlers({spec, host, workspaces, script, place, live, shared: choice.shared}, context)},
    workspaces,
    live,
    held: [],
    script,
    emit: () => slurmScript(spec, placesOf(host, workspaces, spec.run), nodeSpec(spec, host.node, workspaces, undefined)),
    ...(choice.shared && {shared: true}),
    ...(looked && {array: (own, array, now) => startArray({host, below: looked.cluster.array}, own, array, now)}),
  }
}

/** Plans the login node's workspace, and holds the run against what Slurm there has. */
async function inspect(spec: SlurmSpecified, host: Host, place: TrainPlace, context: Context): Promise<{workspaces: WorkspacePlan; cluster: Cluster}> {
  const [cluster, workspaces] = await Promise.all([
    host.call<Cluster>('slurm.inspect', {bin: spec.slurm.bin}, {signal: context.signal}),
    planWorkspace([host], spec.slurm.container ? withoutRequirements(place.manifest) : place.manifest, context, {command: 'train'}),
  ])
  for (const error of workspaces.failed.values()) throw error
  checkPartition(spec.slurm, cluster)
  if (spec.slurm.container && !cluster.pyxis) {
    throw new CliError('NODE_UNFIT', `train.slurm.container needs pyxis, which this Slurm does not have: its srun knows no --container-image`, {hint: 'ask those who run the cluster for pyxis, or leave out train.slurm.container', details: {node: host.node}})
  }
  if (spec.slurm.container && place.manifest.workspace.python !== undefined) context.reporter.warn(`ranks run in ${spec.slurm.container.image}: its packages are used, not those of ${place.manifest.workspace.python}`)
  if (spec.grace > cluster.kill_wait) {
    context.reporter.warn(`train.grace is ${spec.grace} s, and where Slurm itself ends a job (time limit, preemption, scancel) its processes have ${cluster.kill_wait} s (KillWait)`)
  }
  return {workspaces, cluster}
}

/** In a container the packages are the image's: what the job's first step runs on outside of it is the node's bare Python. */
function withoutRequirements(manifest: Manifest): Manifest {
  const {python: _, ...workspace} = manifest.workspace
  return {...manifest, workspace}
}

function checkPartition({partition}: SlurmRequest, {partitions}: Cluster): void {
  const names = partitions.map((one) => one.name)
  const unknown = partition?.split(',').find((name) => !names.includes(name)) // several may be named; Slurm takes the first that is free
  if (unknown === undefined || names.length === 0) return
  const nearest = nearestName(unknown, names)
  throw new CliError('NOT_FOUND', `Slurm has no partition ${unknown}${nearest ? `; did you mean ${nearest}?` : ''}`, {hint: `train: {slurm: {partition: ${nearest ?? names[0]}}}`, details: {partitions: names}})
}

function submitStep(spec: SlurmSpecified, node: string, script: string, before: Step[]): Step {
  const {nodes, minNodes} = spec.slurm
  const most = minNodes === undefined ? '' : `${minNodes} to `
  const what = `${nodes === 1 ? '1 node' : `${most}${nodes} nodes`}, ${spec.worldSize === 1 ? '1 rank' : `${most === '' ? '' : 'up to '}${spec.worldSize} ranks`}`
  return {
    id: `submit:${node}`,
    node,
    kind: 'train.submit',
    title: `Submit to Slurm (${what}): ${launcherWord(spec.launcher)}${spec.command.join(' ')}`,
    input: {
      run: spec.run, launcher: spec.launcher, command: spec.command, processes: spec.processes, restarts: spec.restarts,
      grace: spec.grace, outputs: spec.outputs, env: Object.keys(spec.env), slurm: spec.slurm, script,
    },
    needs: before.map((step) => step.id),
  }
}

interface Making {
  spec: SlurmSpecified
  host: Host
  workspaces: WorkspacePlan
  script: string
  place: TrainPlace
  live: TrainPlan['live']
  shared: SharedStart | undefined
}

function makeHandlers({spec, host, workspaces, script, place, live, shared}: Making, context: Context): Record<string, StepHandler> {
  return {
    'train.reach': async () => {
      live.tracking = await openTrainTracking(place, context)
    },
    'train.track': async () => {
      const environment = workspaces.workspaces.get(host.node)?.environment?.hash
      live.record = await createRecord(live.tracking as Tracking, spec, {folder: place.manifest.folder, rack: place.rack.name, environment, shared}, context)
      return {runId: live.record.runId}
    },
    'train.submit': async () => {
      const full = startedSpec(spec, host.node, workspaces, live.record, context)
      const started = await host.call<NodeRun>('slurm.submit', {spec: full, script}, {signal: context.kill})
      live.started.push(started)
      return started
    },
  }
}

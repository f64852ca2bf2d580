import {CliError, nearestName, type Context} from '../../base/index.ts'
import {openHost, type Host} from '../../host/index.ts'
import type {Manifest} from '../../manifest/index.ts'
import {fill} from '../../plan/index.ts'
import type {Cluster} from '../../protocol/index.ts'
import {planWorkspace, type WorkspacePlan} from '../../workspace/index.ts'
import type {FoundRun} from '../../runs/index.ts'
import type {TrainPlan} from '../plan.ts'
import {requestRun} from './slurm-request.ts'
import {sharedWorkspaces} from '../shared-workspaces.ts'
import {submitStep} from '../steps/submit.ts'
import type {SharedStart, SlurmRequest, TrainChoice, TrainPlace} from '../types.ts'
import {startArray, type SlurmArray} from './slurm-array.ts'
import {slurmScript, type HandedOrder} from './slurm-script.ts'
import {placesOf, slurmTemplate, type SlurmSpecified} from './slurm-template.ts'
import type {Placed, Placer, SlurmPlaced} from './types.ts'

/** As run_path of node/flexrack_node/run/files.py. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/**
 * Slurm: the login node's workspace, and sbatch. Errors: those of requestRun and planWorkspace; NODE_UNFIT without
 * Slurm there; NOT_FOUND for a partition it has not.
 */
export const SLURM: SlurmPlacer = {place: placeWithSlurm, handScript, startArray}

export interface SlurmPlacer extends Placer {
  /**
   * The script to be submitted by hand: it brings what the run needs to know, its variables included, and the run is
   * not tracked.
   */
  handScript(train: Pick<TrainPlan, 'plan' | 'spec' | 'slurm'>): string
  startArray(
    cluster: {node: string; arrays: number},
    place: TrainPlace,
    array: SlurmArray,
    context: Context,
  ): Promise<FoundRun[]>
}

async function placeWithSlurm(place: TrainPlace, choice: TrainChoice, context: Context): Promise<Placed> {
  const spec = requestRun(place.manifest, place.rack, choice) as SlurmSpecified
  if (!RUN_ID.test(spec.run))
    throw new CliError('USAGE', `"${choice.name}" cannot be the beginning of a run's id`, {
      hint: 'use letters, digits, dots, dashes and underscores',
    })
  const login = spec.placements[0]?.node
  if (!login) throw new Error('a run of Slurm without its login node')
  const host = await openHost(place.fleet, login, context)
  // Runs that share a start had one before them that was held against this cluster.
  const looked = choice.shared ? undefined : await inspect(spec, host, place, context)
  const workspaces = looked?.workspaces ?? sharedWorkspaces(choice.shared as SharedStart)
  const workspace = workspaces.workspaces.get(login.name)
  const places = placesOf(host, workspace, spec.run)
  const script = slurmScript(spec, places)
  // Tasks of an array have one folder beside each other, and nobody brings them their remotes.
  const hasBuckets = spec.inputs.length > 0 || spec.uploads.length > 0
  const slurm: SlurmPlaced = {script, places, arrays: hasBuckets ? 0 : (looked?.cluster.array ?? 0)}
  return {
    spec,
    workspaces,
    held: [],
    claim: [],
    ask: [],
    check: [],
    start: [[submitStep(spec, script, slurmTemplate(spec, login.name, workspace))]],
    slurm,
  }
}

function handScript({plan, spec, slurm}: Pick<TrainPlan, 'plan' | 'spec' | 'slurm'>): string {
  const template = plan.steps.find((step) => step.kind === 'train.submit')?.input.spec
  if (spec.inputs.length > 0 || spec.uploads.length > 0)
    throw new CliError(
      'USAGE',
      'a script that is submitted by hand cannot bring what train.inputs and train.uploads need of rclone.conf: it would stand in the script',
      {hint: 'flexrack train'},
    )
  if (!template || !slurm) throw new Error(`${spec.run} is not a run of Slurm`)
  // Who submits it, and when, is seen where its job begins.
  const {
    gang: _gang,
    created: _created,
    owner: _owner,
    origin: _origin,
    commit: _commit,
    tracking: _tracking,
    ...known
  } = template
  const brings = fill({...known, commit: null, tracking: null}, () => undefined, {variables: spec.env}) as HandedOrder
  return slurmScript(spec as SlurmSpecified, slurm.places, brings)
}

/** Plans the login node's workspace, and holds the run against what Slurm there has. */
async function inspect(
  spec: SlurmSpecified,
  host: Host,
  place: TrainPlace,
  context: Context,
): Promise<{workspaces: WorkspacePlan; cluster: Cluster}> {
  const [cluster, workspaces] = await Promise.all([
    host.call('slurm.inspect', {bin: spec.slurm.bin}, {signal: context.signal}),
    planWorkspace([host], spec.slurm.container ? withoutRequirements(place.manifest) : place.manifest, context, {
      command: 'train',
    }),
  ])
  for (const error of workspaces.failed.values()) throw error
  checkPartition(spec.slurm, cluster)
  if (spec.slurm.container && !cluster.pyxis) {
    throw new CliError(
      'NODE_UNFIT',
      `train.slurm.container needs pyxis, which this Slurm does not have: its srun knows no --container-image`,
      {hint: 'ask those who run the cluster for pyxis, or leave out train.slurm.container', details: {node: host.node}},
    )
  }
  if (spec.slurm.container && place.manifest.workspace.python !== undefined)
    context.reporter.warn(
      `ranks run in ${spec.slurm.container.image}: its packages are used, not those of ${place.manifest.workspace.python}`,
    )
  if (spec.grace > cluster.kill_wait) {
    context.reporter.warn(
      `train.grace is ${spec.grace} s, and where Slurm itself ends a job (time limit, preemption, scancel) its processes have ${cluster.kill_wait} s (KillWait)`,
    )
  }
  return {workspaces, cluster}
}

/**
 * In a container the packages are the image's: what the job's first step runs on outside of it is the node's bare
 * Python.
 */
function withoutRequirements(manifest: Manifest): Manifest {
  const {python: _, pythonVersion: _version, ...workspace} = manifest.workspace
  return {...manifest, workspace}
}

function checkPartition({partition}: SlurmRequest, {partitions}: Cluster): void {
  const names = partitions.map((one) => one.name)
  // several may be named; Slurm takes the first that is free
  const unknown = partition?.split(',').find((name) => !names.includes(name))
  if (unknown === undefined || names.length === 0) return
  const nearest = nearestName(unknown, names)
  throw new CliError('NOT_FOUND', `Slurm has no partition ${unknown}${nearest ? `; did you mean ${nearest}?` : ''}`, {
    hint: `train: {slurm: {partition: ${nearest ?? names[0]}}}`,
    details: {partitions: names},
  })
}

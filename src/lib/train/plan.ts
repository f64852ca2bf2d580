import {randomBytes} from 'node:crypto'
import {EventEmitter} from 'node:events'
import type {Context} from '../base/index.ts'
import type {HeldLeases, RunLeases} from '../gpu/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {NodeReport} from '../nodes/index.ts'
import type {Plan, Step, StepHandler} from '../plan/index.ts'
import type {PreflightResult} from '../preflight/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import {readReservations, reserveGang, wantsText, type GangReservation, type NodeReservations} from '../reservation/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {FoundRun, NodeRun} from '../runs/index.ts'
import {planWorkspace, type WorkspacePlan} from '../workspace/index.ts'
import {findAddresses} from './addresses.ts'
import {choosePlacement} from './choose.ts'
import {openGang} from './gang-hosts.ts'
import {leaseSteps, takeRunLeases} from './leases.ts'
import {goingOn, placeRun, rangeOf, schedulerOf, wantsOn} from './place.ts'
import {launcherWord, requireMpi} from './mpi.ts'
import {preflightStep, runPreflightStep} from './preflight.ts'
import {sharedWorkspaces} from './shared-workspaces.ts'
import type {SlurmArray} from './slurm-array.ts'
import {planSlurm} from './slurm-plan.ts'
import {createRecord, openTrainTracking, trackingSpec, type TrackedStart, userName} from './track.ts'
import type {GangAddresses, Placement, PreflightChoice, RunSpec, SharedStart, TrainChoice} from './types.ts'

export interface TrainPlace {
  manifest: Manifest
  rack: Rack
  fleet: Fleet
}

/** What would be done, and who does it. */
export interface TrainPlan {
  spec: RunSpec
  plan: Plan
  handlers: Record<string, StepHandler>
  workspaces: WorkspacePlan
  /** Filled in while the steps are executed. */
  live: {tracking?: Tracking; record?: TrackedStart; reservation?: GangReservation; leases?: RunLeases[]; started: NodeRun[]; preflight?: PreflightResult}
  /** Who has what on its nodes, where that was asked for. */
  held: NodeReport<NodeReservations>[]
  /** Where Slurm places the run: the script that it gets. */
  script?: string
  /** The same, to be submitted by hand. It brings what the run needs to know, and is not tracked. */
  emit?: () => string
  /** Where Slurm places the run: starts runs like it as tasks of one job, see startArray. */
  array?: (place: TrainPlace, array: SlurmArray, context: Context) => Promise<FoundRun[]>
  /** The tracking server's connection is of others, too. */
  shared?: boolean
  /** Where its nodes and GPUs were chosen: chooses again, once, after others were quicker. */
  again?: () => Promise<TrainPlan>
}

/**
 * Plans a run: the reservation of its nodes, workspaces, addresses, the tracking record, and a start on every node. Looks at the nodes and changes nothing.
 * Where the rack has Slurm, planSlurm does it. Errors: those of placeRun, choosePlacement and planWorkspace, and of a node that could not be looked at.
 */
export async function planTrain(place: TrainPlace, choice: TrainChoice, context: Context): Promise<TrainPlan> {
  if (schedulerOf(place.manifest, place.rack, choice) === 'slurm') return planSlurm(place, choice, context)
  return {...(await planChosen(place, choice, context)), ...(isChosen(place, choice) && {again: () => planChosen(place, choice, context)})}
}

/** Whether nodes are chosen by what is free: then others may be quicker. */
function isChosen({manifest: {train}}: TrainPlace, choice: TrainChoice): boolean {
  if ((choice.gpus ?? train?.gpus) !== undefined) return true
  return choice.nodes === undefined ? train?.minNodes !== undefined : String(choice.nodes).includes('..')
}

async function planChosen(place: TrainPlace, choice: TrainChoice, context: Context): Promise<TrainPlan> {
  const placed = await choosePlacement(placeRun(place.manifest, place.rack, choice), place, choice, context)
  const early = new EventEmitter<{open: [Host]}>()
  const gang = openGang(placed, place.fleet, (host) => early.emit('open', host), context)
  const [{spec, hosts}, workspaces, held] = await Promise.all([
    gang,
    choice.shared ? sharedWorkspaces(choice.shared) : planWorkspace(gang.then((one) => one.hosts), place.manifest, context, {command: 'train', early}),
    gang.then((one) => (choice.look ? readReservations(one.spec.placements.map(({node}) => node), place.fleet, context) : [])),
    gang.then((one) => (one.spec.launcher === 'mpi' ? requireMpi(one.hosts, context) : undefined)),
  ])
  for (const error of workspaces.failed.values()) throw error
  const live: TrainPlan['live'] = {started: [], ...(choice.shared && {tracking: choice.shared.tracking})}
  // Before anything is built: a missing head is told in the first second, not after minutes of pip.
  const reach = spec.tracked && !choice.shared ? [reachStep(place)] : []
  const reserve = {...reserveStep(spec, held), needs: reach.map((one) => one.id)}
  const before = [...reach, reserve, ...workspaces.plan.steps.map((step) => ({...step, needs: [...step.needs, reserve.id]}))]
  const steps = [...before, ...stepsOf(spec, before, place, choice.preflight)]
  return {
    spec,
    plan: {command: 'train', steps},
    handlers: {...workspaces.handlers, ...makeHandlers({spec, hosts, workspaces, place, live, wait: choice.wait, preflight: choice.preflight, shared: choice.shared}, context)},
    workspaces,
    live,
    held,
    ...(choice.shared && {shared: true}),
  }
}

/** Before anything is changed: whoever has to wait, or is refused, knows it in the first second. */
function reserveStep(spec: RunSpec, held: NodeReport<NodeReservations>[]): Step {
  const nodes = spec.placements.map((one) => one.node.name)
  const now = held.flatMap(({node, value}) => (value?.reservations ?? []).map((one) => ({...one, at: node})))
  const wants = spec.placements.map((one) => wantsOn(spec, one))
  const each = wants[0] ?? spec.wants
  const byNode = spec.chosen && Object.fromEntries(nodes.map((node, index) => [node, wants[index]?.gpus]))
  const input = {lease: spec.run, nodes, wants: spec.wants, ...(spec.chosen && {gpus: byNode, placement: spec.chosen}), ...(held.length > 0 && {held: now})}
  return {id: 'reserve', node: null, kind: 'train.reserve', title: `Reserve ${nodes.join(', ')}, all or none (each: ${wantsText(each)})`, input, needs: []}
}

function reachStep({manifest, rack}: TrainPlace): Step {
  const uri = manifest.tracking.uri ?? null
  return {id: 'reach', node: null, kind: 'train.reach', title: `Reach ${uri ?? `the head of rack ${rack.name}`}`, input: {uri}, needs: []}
}

function stepsOf(spec: RunSpec, before: Step[], place: TrainPlace, preflight: PreflightChoice | undefined): Step[] {
  const nodes = spec.placements.map((one) => one.node)
  const steps: Step[] = []
  if (nodes.length > 1) {
    const fixed = nodes[0]?.address
    const input = {nodes: nodes.map((node) => node.name), address: fixed ?? null}
    steps.push({id: 'route', node: null, kind: 'train.route', title: `Find the addresses at which the ${nodes.length} nodes reach each other`, input, needs: []})
  }
  // After the environments are built, because it compares them; before there is a record of a run that will not be.
  steps.push(...preflightStep(spec, [...before, ...steps], preflight))
  if (spec.tracked) {
    const where = place.manifest.tracking.uri ?? `the head of rack ${place.rack.name}`
    steps.push({
      id: 'track',
      node: null,
      kind: 'train.track',
      title: `Record run ${spec.run} in experiment ${spec.experiment} at ${where}`,
      input: {run: spec.run, experiment: spec.experiment, uri: place.manifest.tracking.uri ?? null},
      needs: [...before, ...steps].map((step) => step.id), // no record of a run whose environment cannot be built
    })
  }
  steps.push(...leaseSteps(spec, [...before, ...steps])) // at last: what nobody takes up ends soon
  for (const placement of spec.placements) steps.push(startStep(spec, placement, [...before, ...steps].filter((step) => step.kind !== 'train.start' || placement.index > 0)))
  return steps
}

/** The leader starts first, because the others need the port it listens on. */
function startStep(spec: RunSpec, {node, index, ranks, placed}: Placement, before: Step[]): Step {
  const leader = `start:${spec.placements[0]?.node.name}`
  const what = ranks.length > 1 ? 'ranks' : 'rank'
  return {
    id: `start:${node.name}`,
    node: node.name,
    kind: 'train.start',
    title: ranks.length === 0 ? 'Keep it ready: it takes the place of a node that is lost' : `Start ${what} ${rangeOf(ranks)} of ${spec.worldSize}: ${launcherWord(spec.launcher)}${spec.command.join(' ')}`,
    input: {
      run: spec.run, index, ranks, launcher: spec.launcher, command: spec.command, processes: spec.processes, restarts: spec.restarts,
      grace: spec.grace, outputs: spec.outputs, env: Object.keys(spec.env), ...(placed && {placed}),
    },
    needs: before.filter((step) => step.kind !== 'train.start' || step.id === leader).map((step) => step.id),
  }
}

interface Making {
  spec: RunSpec
  hosts: Host[]
  workspaces: WorkspacePlan
  place: TrainPlace
  live: TrainPlan['live']
  wait: number | undefined
  preflight: PreflightChoice | undefined
  shared: SharedStart | undefined
}

function makeHandlers({spec, hosts, workspaces, place, live, wait, preflight, shared}: Making, context: Context): Record<string, StepHandler> {
  const nodes = spec.placements.map((one) => one.node)
  const secret = randomBytes(32).toString('hex')
  const hostOf = (name: string | null): Host => hosts.find((one) => one.node === name) as Host
  const environmentOf = (name: string): string | undefined => workspaces.workspaces.get(name)?.environment?.hash
  return {
    'train.reserve': async () => {
      const on = new Map(spec.placements.map((one) => [one.node.name, wantsOn(spec, one)]))
      live.reservation = await reserveGang(hosts, {lease: spec.run, project: spec.project, wants: spec.wants, on}, {wait}, context)
    },
    'train.route': () => findAddresses(nodes, hosts, context),
    'train.preflight': async (_step, done) => {
      live.preflight = await runPreflightStep(spec, hosts, done.get('route') as GangAddresses | undefined, preflight, context)
    },
    'train.reach': async () => {
      live.tracking = await openTrainTracking(place, context)
    },
    'train.track': async () => {
      const first = nodes[0] as RackNode
      live.record = await createRecord(live.tracking as Tracking, spec, {folder: place.manifest.folder, rack: place.rack.name, environment: environmentOf(first.name), shared}, context)
      return {runId: live.record.runId}
    },
    'train.lease': (step) => takeRunLeases(spec, step, hostOf(step.node), place, live, context),
    'train.start': async (step, done) => {
      const addresses = (done.get('route') ?? {[step.node as string]: {address: '127.0.0.1', neighbours: 1}}) as GangAddresses
      const leader = nodes[0] as RackNode
      const port = (done.get(`start:${leader.name}`) as NodeRun | undefined)?.gang?.port ?? 0
      const started = await hostOf(step.node).call<NodeRun>('run.start', {...nodeSpec(spec, step, {addresses, secret, port, workspaces, record: live.record, fence: live.reservation?.fences.get(step.node as string), leases: done.get(`lease:${step.node}`) as HeldLeases | undefined}), owner: userName(context)}, {signal: context.kill})
      live.started.push(started)
      live.reservation?.handOver(step.node as string)
      return started
    },
  }
}

/** What a node's spec has besides what is known before anything is done. */
interface NodeParts {
  addresses: GangAddresses
  secret: string
  port: number
  workspaces: WorkspacePlan
  record: TrackedStart | undefined
  fence: number | undefined
  leases: HeldLeases | undefined
}

/** spec.json of one node. */
function nodeSpec(
  spec: RunSpec,
  step: Step,
  {addresses, secret, port, workspaces, record, fence, leases}: NodeParts,
): Record<string, unknown> {
  const node = step.node as string
  const workspace = workspaces.workspaces.get(node)
  const environment = workspace?.environment
  const leader = spec.placements[0]?.node.name as string
  const placed = spec.placements.find((one) => one.node.name === node)?.placed
  return {
    run: spec.run,
    project: spec.project,
    node,
    index: step.input.index,
    nodes: spec.placements.map((one) => one.node.name),
    launcher: spec.launcher,
    processes: spec.processes,
    command: spec.command,
    python: `${environment?.path}/bin/python`,
    environment: environment?.hash ?? null,
    cwd: workspace?.codePath,
    env: spec.env,
    restarts: spec.restarts,
    ...goingOn(spec),
    grace: spec.grace,
    ...spec.watched,
    outputs: spec.outputs,
    address: addresses[node]?.address,
    neighbours: addresses[node]?.neighbours ?? 1,
    gang: {secret, address: addresses[leader]?.address, port, timeout: 60},
    reservation: {lease: spec.run, fence},
    ...(placed && {placed: placed.map(({gpus, cpus, memory, leased: own}) => ({gpus: gpus.map((gpu) => gpu.uuid), cpus, memory, ...(own && {leased: own.map((gpu) => `GPU${gpu.index} of ${gpu.node}`)})}))}),
    ...(leases && {leases}),
    commit: record?.commit ?? null,
    created: Date.now() / 1000,
    tracking: record ? trackingSpec(record) : null,
  }
}

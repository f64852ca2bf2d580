import {CliError, count, pinsOf, randomId, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {SweepSpec} from '../manifest/index.ts'
import {fromStep, type PlanOf, type StepOf} from '../plan/index.ts'
import {chosenChecks} from '../preflight/index.ts'
import {selectNodes, type RackNode} from '../rack/index.ts'
import {planTrain, type TrainPlace} from '../train/index.ts'
import {planWorkspace, type WorkspacePlan} from '../workspace/index.ts'
import {isArray} from './array.ts'
import {engineRequirements} from './engine.ts'
import {Packing} from './packing.ts'
import {findSweep, openStorage} from './storage.ts'
import type {SweepKinds, TrialsInput} from './steps.ts'
import {trialChoice, trialSize} from './trial-choice.ts'
import type {Sweep, SweepChoice} from './types.ts'
import {trialWords} from './words.ts'

/** What would be done, and what it is done with. */
export interface SweepPlan {
  plan: PlanOf<SweepKinds>
  sweep: string
  spec: SweepSpec
  /** Of an earlier command. */
  resumed: Sweep | undefined
  parallel: number
  hosts: Host[]
  nodes: RackNode[]
  head: Host
  workspaces: WorkspacePlan
}

/** Seconds for one part of a node's facts. */
const PART_SECONDS = 10

/**
 * Plans a sweep: workspaces on all nodes that are meant, the preflight, the engine on the head's node, and the trials.
 * Looks at the nodes and changes nothing. Errors: NOT_FOUND (no `sweep:`, too few nodes, no such sweep), USAGE, and
 * those of planWorkspace.
 */
export async function planSweep(place: TrainPlace, choice: SweepChoice, context: Context): Promise<SweepPlan> {
  const {manifest, rack, fleet} = place
  const {train} = manifest
  if (!manifest.sweep || !train)
    throw new CliError('NOT_FOUND', `${manifest.path} has no \`sweep:\` part`, {
      hint: 'add to flexrack.yaml:  sweep: {metric: loss, goal: minimize, parameters: {learning_rate: {min: 1e-5, max: 0.1, scale: log}}}',
    })
  // One of its runs is planned, which looks at what Slurm there has, and is not executed.
  const slurm =
    rack.slurm || train.scheduler === 'slurm'
      ? await planTrain(
          place,
          trialChoice(train, {on: choice.on, exclude: choice.exclude, preflight: choice.preflight}),
          context,
        )
      : undefined
  const nodes = slurm ? slurm.spec.placements.map((one) => one.node) : nodesOf(place, choice)
  const [head, hosts, resumed] = await Promise.all([
    openStorage(place, context),
    Promise.all(nodes.map((node) => openHost(fleet, node, context))),
    choice.resume === undefined
      ? undefined
      : findSweep(
          {rack, fleet, project: manifest.name},
          choice.resume === 'latest' ? undefined : choice.resume,
          context,
        ),
  ])
  if (resumed && resumed.project !== manifest.name)
    throw new CliError(
      'CONFLICT',
      `sweep ${resumed.sweep} is one of project ${resumed.project}, not of ${manifest.name}`,
      {hint: 'flexrack sweep list'},
    )
  const [workspaces, cores] = await Promise.all([
    slurm?.workspaces ?? planWorkspace(hosts, manifest, context, {command: 'sweep'}),
    slurm || train.gpus ? undefined : coresOf(hosts, context),
  ])
  for (const error of workspaces.failed.values()) throw error
  if (resumed?.driver) await throwIfDriven(head, resumed.sweep, context)
  const own = {...manifest.sweep, ...(choice.trials !== undefined && {trials: choice.trials})}
  const spec = resumed ? {...resumed.spec, ...(choice.trials !== undefined && {trials: choice.trials})} : own
  const wanted = choice.parallel ?? manifest.sweep.parallel
  const rooms = cores
    ? {
        nodes: nodes.map((node, index) => ({node: node.name, cores: cores[index] ?? null})),
        size: trialSize(train),
        processes: train.processesPerNode,
      }
    : null
  const packing = rooms ? new Packing(rooms.nodes, rooms) : undefined
  const parallel = Math.min(wanted, packing?.capacity ?? wanted)
  if (parallel < wanted)
    context.reporter.warn(`${wanted} trials at the same time are asked for, and the cores suffice for ${parallel}`)
  const smallest = Math.min(...(cores ?? []).map((one) => one ?? Infinity))
  const sharing = packing?.sharing(parallel) ?? 1
  const sweep = resumed?.sweep ?? choice.id ?? `${manifest.name}-sweep-${randomId()}`
  const command = resumed?.command ?? [...train.command, ...choice.args]
  const threads =
    sharing > 1 && Number.isFinite(smallest)
      ? Math.max(1, Math.floor(smallest / (sharing * train.processesPerNode)))
      : null
  const trials: TrialsInput = {
    sweep,
    spec,
    command,
    parallel,
    threads,
    rooms,
    slurm: slurm
      ? {node: (nodes[0] as RackNode).name, arrays: slurm.slurm?.arrays ?? 0, together: isArray(spec)}
      : null,
    on: choice.on ?? null,
    exclude: choice.exclude ?? null,
    workspaces: [...workspaces.workspaces.values()],
    opened: fromStep('open'),
  }
  const steps = stepsOf({place, choice, trials, nodes, workspaces, head: head.node, resumed})
  return {plan: {command: 'sweep', steps}, sweep, spec, resumed, parallel, hosts, nodes, head, workspaces}
}

/**
 * Before anything is synced under trials that run. A command that was killed a moment ago may still have been there at
 * the first look.
 */
async function throwIfDriven(head: Host, sweep: string, context: Context): Promise<void> {
  const {driver} = await head.call('sweep.show', {sweep}, {signal: context.signal})
  if (driver)
    throw new CliError('LOCKED', `sweep ${sweep} is held by ${driver}`, {hint: `flexrack sweep show ${sweep}`})
}

function nodesOf({manifest, rack}: TrainPlace, {on, exclude}: SweepChoice): RackNode[] {
  const left = exclude === undefined ? [] : selectNodes(rack, exclude, [])
  const nodes = selectNodes(rack, on, rack.nodes).filter((node) => !left.includes(node))
  const size = manifest.train ? trialSize(manifest.train) : 1
  if (nodes.length >= size) return nodes
  throw new CliError(
    'NOT_FOUND',
    `a trial needs ${count(size, 'node')} (train.nodes), and ${nodes.length} ${nodes.length === 1 ? 'is' : 'are'} there`,
    {
      hint: `flexrack rack show ${rack.name}`,
      details: {nodes: nodes.map((node) => node.name)},
    },
  )
}

/** CPUs of each node that programs may use. */
async function coresOf(hosts: Host[], context: Context): Promise<(number | null)[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const {cpu} = await host.call('node.facts', {seconds: PART_SECONDS}, {signal: context.signal})
      return cpu ? Math.max(1, Math.floor(Math.min(cpu.cores, cpu.quota ?? Infinity))) : null
    }),
  )
}

interface Parts {
  place: TrainPlace
  choice: SweepChoice
  trials: TrialsInput
  nodes: RackNode[]
  workspaces: WorkspacePlan
  head: string
  resumed: Sweep | undefined
}

function stepsOf({
  place: {manifest, rack},
  choice,
  trials,
  nodes,
  workspaces,
  head,
  resumed,
}: Parts): StepOf<SweepKinds>[] {
  const {sweep, spec, command} = trials
  const {
    name: project,
    tracking: {experiment},
  } = manifest
  const names = nodes.map((node) => node.name)
  const uri = manifest.tracking.uri ?? null
  const reach: StepOf<SweepKinds> = {
    id: 'reach',
    node: null,
    kind: 'sweep.reach',
    title: `Reach ${uri ?? `the head of rack ${rack.name}`}`,
    input: {uri},
    needs: [],
  }
  const before = [reach, ...workspaces.plan.steps.map((step) => ({...step, needs: [...step.needs, reach.id]}))]
  const checks = trials.slurm ? [] : chosenChecks(choice.preflight.skip, nodes.length)
  const preflight: StepOf<SweepKinds>[] =
    checks.length === 0
      ? []
      : [
          {
            id: 'preflight',
            node: null,
            kind: 'sweep.preflight',
            title: `Preflight of ${names.join(', ')}, once for all trials: ${checks.join(', ')}`,
            input: {nodes: names, checks, skipped: choice.preflight.skip, force: choice.preflight.force},
            needs: before.map((step) => step.id),
          },
        ]
  const engine: StepOf<SweepKinds> = {
    id: 'engine',
    node: head,
    kind: 'sweep.engine',
    title: `Have an environment with ${pinsOf(engineRequirements(spec), ['optuna', 'cmaes', 'scipy', 'torch']).join(', ')}`,
    input: {node: head, sampler: spec.sampler},
    needs: [reach.id],
  }
  const open: StepOf<SweepKinds> = {
    id: 'open',
    node: head,
    kind: 'sweep.open',
    title: resumed
      ? `Go on with sweep ${sweep}: ${trialCounts(resumed)}`
      : `Make sweep ${sweep}, and its record in experiment ${experiment}`,
    input: {
      node: head,
      sweep,
      python: fromStep(engine.id, 'python'),
      tracking: fromStep(reach.id),
      project,
      spec,
      command,
      experiment,
      resumed: resumed?.tracked ?? null,
    },
    needs: [...before, ...preflight, engine].map((step) => step.id),
  }
  return [
    ...before,
    ...preflight,
    engine,
    open,
    {id: 'trials', node: null, kind: 'sweep.trials', title: trialsTitle(trials), input: trials, needs: [open.id]},
  ]
}

function trialsTitle({spec, command, parallel, slurm}: TrialsInput): string {
  const example = trialWords(
    spec,
    Object.fromEntries(Object.keys(spec.parameters).map((name) => [name, `{${name}}`])),
  ).join(' ')
  const what =
    spec.trials === undefined && spec.sampler === 'grid' ? 'every point of the grid' : `${spec.trials ?? 20} trials`
  const where = slurm ? (slurm.together ? 'tasks of one job of Slurm ' : 'jobs of Slurm ') : ''
  return `Run ${what}, ${parallel} ${where}at a time, chosen by ${spec.sampler}${spec.pruner.name === 'none' ? '' : `, ended early by ${spec.pruner.name}`}: ${command.join(' ')}${example ? ` ${example}` : ''}`
}

function trialCounts({trials}: Sweep): string {
  const ended = trials.filter((one) => one.state !== 'running').length
  return `${count(ended, 'trial is', 'trials are')} over, ${count(trials.length - ended, 'is', 'are')} not`
}

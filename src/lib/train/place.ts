import {CliError, randomId} from '../base/index.ts'
import {gpuRequest} from '../gpu/index.ts'
import {
  readNodeRange,
  type IsolateSpec,
  type LeasedSpec,
  type Manifest,
  type Scheduler,
  type TrainSpec,
} from '../manifest/index.ts'
import type {RunData, Wants} from '../protocol/index.ts'
import {selectNodes, type Rack, type RackNode} from '../rack/index.ts'
import {nodesWith, volumesFor} from '../volume/index.ts'
import type {Placement, RunSpec, TrainChoice} from './types.ts'

/**
 * Decides which ranks run where. Pure but for the random end of the run's id. Errors: NOT_FOUND (no `train:` in the
 * manifest, a selector without a node, fewer nodes than asked for), USAGE.
 */
export function placeRun(manifest: Manifest, rack: Rack, choice: TrainChoice, id: string = randomId()): RunSpec {
  const {train} = manifest
  if (!train)
    throw new CliError('NOT_FOUND', `${manifest.path} has no \`train:\` part`, {
      hint: 'add to flexrack.yaml:  train: {command: train.py}',
    })
  const left = choice.exclude === undefined ? [] : selectNodes(rack, choice.exclude, [])
  const meant = selectNodes(rack, choice.on, rack.nodes).filter((node) => !left.includes(node))
  if (meant.length === 0)
    throw new CliError('USAGE', `--exclude ${choice.exclude} leaves no node`, {hint: 'flexrack train --nodes 1'})
  const chosen = nodesWith(manifest, rack, meant, choice.on !== undefined)
  const size = sizeOf(train, choice, chosen.length)
  const count = size.min < size.max ? size.min : size.max + size.spares
  if (count > chosen.length) {
    const flags = [
      ...(choice.on === undefined ? [] : [`--on ${choice.on}`]),
      ...(choice.exclude === undefined ? [] : [`--exclude ${choice.exclude}`]),
    ]
    const where = flags.length === 0 ? `rack ${rack.name}` : `${rack.name} under ${flags.join(' ')}`
    const spares = size.min === size.max && size.spares > 0
    const some = chosen.length < meant.length ? ` with its volumes` : ''
    throw new CliError(
      'NOT_FOUND',
      `${count} nodes are asked for${spares ? `, ${size.spares} of them as spares` : size.min < size.max ? ' at least' : ''}, and ${where} has ${chosen.length}${some}`,
      {
        hint:
          spares && size.max <= chosen.length
            ? `flexrack train --spares ${chosen.length - size.max}`
            : `flexrack train --nodes ${chosen.length}`,
        details: {nodes: chosen.map((node) => node.name)},
      },
    )
  }
  const processes = processesOf(train, choice)
  const pool = chosen.slice(0, size.max + size.spares)
  const spec = describeRun({manifest, rack, train}, choice, {count: Math.min(pool.length, size.max), processes}, id)
  const isSteady = size.min === size.max && size.spares === 0
  return {
    ...spec,
    placements: placeRanks(pool, processes, size.max),
    instead: chosen.slice(pool.length),
    ...(!isSteady && {size}),
    ...((spec.gpus !== undefined || size.min < size.max) && {among: chosen}),
  }
}

/**
 * How many nodes a run is to have, and how many more are to wait. `meant`: how many nodes --on and --exclude leave.
 * Pure. Errors: USAGE.
 */
export function sizeOf(
  train: TrainSpec,
  choice: TrainChoice,
  meant: number,
): {min: number; max: number; spares: number} {
  const spares = choice.spares ?? train.spares ?? 0
  if (choice.nodes !== undefined) {
    const reported = readNodeRange(String(choice.nodes))
    if (!reported)
      throw new CliError('USAGE', `a run has 1 to 1024 nodes: a number, or a range such as 2..8, not ${choice.nodes}`, {
        hint: 'flexrack train --nodes 1',
      })
    return {min: reported.minNodes ?? reported.nodes, max: reported.nodes, spares}
  }
  if (choice.on !== undefined && train.minNodes === undefined) {
    if (meant <= spares)
      throw new CliError(
        'USAGE',
        `--on ${choice.on} means ${meant} nodes, and ${spares} of them are to be spares: none is left`,
        {hint: 'flexrack train --spares 0'},
      )
    return {min: meant - spares, max: meant - spares, spares}
  }
  return {min: train.minNodes ?? train.nodes, max: train.nodes, spares}
}

/**
 * A run that Slurm places: on paper all of its ranks are on the login node. Pure as placeRun. Errors: NOT_FOUND, USAGE.
 */
export function requestRun(manifest: Manifest, rack: Rack, choice: TrainChoice, id: string = randomId()): RunSpec {
  const {train} = manifest
  if (!train)
    throw new CliError('NOT_FOUND', `${manifest.path} has no \`train:\` part`, {
      hint: 'add to flexrack.yaml:  train: {command: train.py}',
    })
  const login = rack.nodes.find((node) => node.name === rack.slurm?.login)
  if (!rack.slurm || !login) {
    throw new CliError('USAGE', `rack ${rack.name} has no Slurm`, {
      hint: `add to ${rack.path}:  slurm: {login: ${rack.nodes[0]?.name}}`,
    })
  }
  if (choice.on !== undefined || choice.exclude !== undefined) {
    throw new CliError(
      'USAGE',
      `rack ${rack.name} has Slurm, which chooses the nodes; ${choice.on === undefined ? '--exclude' : '--on'} cannot`,
      {hint: 'name what the nodes must have in train.slurm: partition, constraint, or extra: [--nodelist=...]'},
    )
  }
  if (choice.wait !== undefined || choice.shareGpus)
    throw new CliError(
      'USAGE',
      `rack ${rack.name} has Slurm, which keeps the line and gives out the GPUs; --wait and --share-gpus are for racks without`,
      {hint: 'flexrack train'},
    )
  if (choice.preflight && (choice.preflight.force || choice.preflight.skip.length > 0)) {
    throw new CliError(
      'USAGE',
      `rack ${rack.name} has Slurm, and nodes that Slurm has still to choose are not looked over; --skip and --force are for racks without`,
      {hint: 'flexrack train'},
    )
  }
  const {min, max: count, spares} = sizeOf(train, {...choice, on: undefined}, 0)
  if (spares > 0)
    throw new CliError(
      'USAGE',
      `rack ${rack.name} has Slurm, which ends a job that loses a node: spares could not take its place`,
      {hint: 'flexrack train --spares 0'},
    )
  const processes = processesOf(train, choice)
  const {login: _login, extra, ...defaults} = rack.slurm
  const wanted = train.slurm ?? {exclusive: false, extra: []}
  const exclusive = choice.exclusive ?? (wanted.exclusive || train.exclusive === true)
  const gpus = gpusOf(train, choice)
  if (train.leased)
    throw new CliError(
      'USAGE',
      `rack ${rack.name} has Slurm, which gives out whole GPUs of its nodes; train.gpus asks for leases`,
      {hint: 'set train.gpus to a number'},
    )
  const perNode = wanted.gpus ?? (gpus ? String(gpus * processes) : undefined)
  const slurm = {
    ...defaults,
    ...wanted,
    ...(perNode !== undefined && {gpus: perNode}),
    exclusive,
    extra: [...extra, ...wanted.extra],
    nodes: count,
    ...(min < count && {minNodes: min}),
    cpus: wanted.cpus ?? processes,
    requeue: wanted.requeue ?? train.checkpoint !== undefined,
  }
  const ranks = Array.from({length: count * processes}, (_, rank) => rank)
  return {
    ...describeRun({manifest, rack, train}, choice, {count, processes}, id),
    placements: [{node: login, index: 0, ranks}],
    slurm,
    ...(min < count && {size: {min, max: count, spares: 0}}),
  }
}

/**
 * Who places a run: Slurm wherever the rack has it. Errors: USAGE where the manifest, or the command line, says
 * otherwise.
 */
export function schedulerOf(manifest: Manifest, rack: Rack, choice: TrainChoice): Scheduler {
  const wanted = choice.scheduler ?? manifest.train?.scheduler
  if (wanted === 'ssh' && rack.slurm) {
    throw new CliError('USAGE', `rack ${rack.name} has Slurm, so flexrack does not place runs there by itself`, {
      hint: 'flexrack train --scheduler slurm',
    })
  }
  return wanted ?? (rack.slurm ? 'slurm' : 'ssh')
}

function processesOf(train: TrainSpec, choice: TrainChoice): number {
  const processes = choice.processesPerNode ?? train.processesPerNode
  if (processes < 1)
    throw new CliError('USAGE', `a node needs at least one process, not ${processes}`, {
      hint: 'flexrack train --processes-per-node 1',
    })
  if ((train.launcher === 'plain' || train.launcher === 'ray') && processes !== 1) {
    throw new CliError('USAGE', `the launcher ${train.launcher} starts one process a node, not ${processes}`, {
      hint: 'set train.launcher to torchrun, or leave out processes_per_node',
    })
  }
  return processes
}

/** Who writes the script once more after -- means to replace it, and it would be its own first argument. */
function wholeCommand({command}: TrainSpec, {args}: TrainChoice): string[] {
  const [script = ''] = command
  if (args[0] === script && script.endsWith('.py')) {
    const rest = args.slice(1).join(' ')
    throw new CliError('USAGE', `what follows -- is added to train.command, which is ${command.join(' ')} already`, {
      hint: `flexrack train${rest ? ` -- ${rest}` : ''}`,
    })
  }
  return [...command, ...args]
}

function describeRun(
  {manifest, rack, train}: {manifest: Manifest; rack: Rack; train: TrainSpec},
  choice: TrainChoice,
  {count, processes}: {count: number; processes: number},
  id: string,
): Omit<RunSpec, 'placements'> {
  const gpus = gpusOf(train, choice)
  return {
    run: choice.run ?? `${choice.name ?? manifest.name}-${id}`,
    project: manifest.name,
    launcher: train.launcher,
    command: wholeCommand(train, choice),
    processes,
    worldSize: count * processes,
    restarts: train.restarts,
    ...(train.withoutProgress !== undefined && {withoutProgress: train.withoutProgress}),
    ...(train.afterReboot && {afterReboot: train.afterReboot}),
    ...(train.checkpoint && {checkpoint: train.checkpoint}),
    grace: train.grace,
    watched: {
      ...(train.watch === false && {watch: false}),
      ...(train.hang && {hang: train.hang}),
      ...profileOf(train, choice),
    },
    outputs: train.outputs,
    env: {...manifest.workspace.env, ...train.env, ...choice.env},
    wants: wantsOf(train, choice, processes),
    ...(gpus !== undefined && {gpus, ...(train.leased && gpus > 0 && {leased: leaseWish(train.leased)})}),
    ...(manifest.workspace.isolate && {isolate: isolateOf(manifest.workspace.isolate, train)}),
    experiment: manifest.tracking.experiment,
    data: (manifest.data ?? []).map(exactVersion),
    volumes: volumesFor(manifest, rack),
    inputs: Object.entries(train.inputs ?? {}).map(([name, from]) => ({name, from})),
    uploads: train.uploads ?? [],
    tracked: choice.tracking,
  }
}

/** What a sandbox of ranks can be. Errors: USAGE. */
function isolateOf(isolate: IsolateSpec, {launcher}: TrainSpec): IsolateSpec {
  if (isolate.network === 'none')
    throw new CliError(
      'USAGE',
      'workspace.isolate has network: none, and ranks speak to each other and to the tracking server over the network',
      {hint: 'workspace: {isolate: {network: host}}'},
    )
  if (launcher === 'mpi')
    throw new CliError(
      'USAGE',
      'workspace.isolate and the launcher mpi do not go together: daemons of mpirun need the secret of the gang, which a sandbox hides',
      {hint: 'set train.launcher to torchrun, or leave workspace.isolate out'},
    )
  return isolate
}

function profileOf(train: TrainSpec, {profile}: TrainChoice): Pick<RunSpec['watched'], 'profile'> {
  if (!profile) return {}
  if (train.watch === false)
    throw new CliError('USAGE', 'a profile is taken by the hook that train.watch: false leaves out', {
      hint: 'leave train.watch out of the manifest, or --profile out of the command',
    })
  return {profile}
}

/** GPUs of each rank; undefined where nobody says: then none are chosen, and a rank sees all of its node. */
function gpusOf(train: TrainSpec, choice: TrainChoice): number | undefined {
  const gpus = choice.gpus ?? train.gpus
  if (gpus !== undefined && (choice.shareGpus ?? train.shareGpus)) {
    throw new CliError(
      'USAGE',
      `GPUs that are chosen for a rank are its run's alone; --gpus ${gpus} and --share-gpus do not go together`,
      {hint: `flexrack train --gpus ${gpus} --no-share-gpus`},
    )
  }
  return gpus
}

function leaseWish({memory, fraction, remote, cap, api}: LeasedSpec): RunSpec['leased'] {
  const requested = gpuRequest({memory, fraction, cap, api})
  return {
    remote,
    cap: requested.cap,
    ...(requested.api && {api: requested.api}),
    ...(requested.memory !== undefined && {memory: requested.memory}),
    ...(requested.fraction !== undefined && {fraction: requested.fraction}),
  }
}

/** GPUs are for one run alone unless it says otherwise; cores are shared unless it says otherwise. */
function wantsOf(train: TrainSpec, choice: TrainChoice, slots: number): Wants {
  return {
    gpus: gpusOf(train, choice) !== undefined || (choice.shareGpus ?? train.shareGpus) ? [] : 'all',
    slots,
    exclusive: choice.exclusive ?? train.exclusive ?? false,
  }
}

/** What is reserved on one of its nodes. Pure. */
export function wantsOn(spec: RunSpec, {placed}: Placement): Wants {
  return placed === undefined
    ? spec.wants
    : {...spec.wants, gpus: placed.flatMap((rank) => rank.gpus.map((gpu) => gpu.uuid))}
}

/**
 * Rank r runs on node floor(r / processes), in the order of the rack file; from node number `most` on they are spares.
 */
export function placeRanks(nodes: RackNode[], processes: number, most = Infinity): Placement[] {
  return nodes.map((node, index) => ({
    node,
    index,
    ranks: index < most ? Array.from({length: processes}, (_, local) => index * processes + local) : [],
  }))
}

/** `0`, `0-3`, for people. */
export function rangeOf(ranks: number[]): string {
  return ranks.length > 1 ? `${ranks[0]}-${ranks.at(-1)}` : String(ranks[0])
}

/** NAME@DIGEST, as the plan has made of what the manifest says. */
function exactVersion(word: string): RunData {
  const [name = '', digest = ''] = word.split('@')
  return {name, digest}
}

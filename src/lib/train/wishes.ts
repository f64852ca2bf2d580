/**
 * What a run is to be, whoever places it: the manifest's words and those of the command line. What each node's
 * supervisor is given of it is spec.ts.
 */
import {CliError} from '../base/index.ts'
import {gpuRequest} from '../gpu/index.ts'
import {readNodeRange, type IsolateSpec, type LeasedSpec, type Manifest, type TrainSpec} from '../manifest/index.ts'
import type {RunData, Wants} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import {volumesFor} from '../volume/index.ts'
import type {RunSpec, TrainChoice} from './types.ts'

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

export function processesOf(train: TrainSpec, choice: TrainChoice): number {
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

export function describeRun(
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
    ...(train.timeLimit !== undefined && {timeLimit: train.timeLimit}),
    ...(train.priority !== undefined && {priority: train.priority}),
    ...(train.preemptible && {preemptible: true}),
    watched: {
      ...(train.watch === false && {watch: false}),
      ...(train.hang && {hang: train.hang}),
      ...profileOf(train, choice),
      ...(rack.metrics?.textfile !== undefined && {textfile: rack.metrics.textfile}),
      ...(rack.metrics?.dcgm !== undefined && {dcgm: rack.metrics.dcgm}),
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
    origin: {rack: rack.name, arguments: choice.args, ...(choice.parents && {parents: choice.parents})},
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
export function gpusOf(train: TrainSpec, choice: TrainChoice): number | undefined {
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

/** NAME@DIGEST, as the plan has made of what the manifest says. */
function exactVersion(word: string): RunData {
  const [name = '', digest = ''] = word.split('@')
  return {name, digest}
}

/** What is asked of Slurm for a run, as plain data; the script that says it to sbatch is slurm-script.ts. */
import {CliError, randomId} from '../../base/index.ts'
import type {Manifest} from '../../manifest/index.ts'
import type {Rack} from '../../rack/index.ts'
import type {RunSpec, TrainChoice} from '../types.ts'
import {describeRun, gpusOf, processesOf, sizeOf} from '../wishes.ts'

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

import {CliError, randomId} from '../base/index.ts'
import type {Manifest, Scheduler} from '../manifest/index.ts'
import type {Wants} from '../protocol/index.ts'
import {selectNodes, type Rack, type RackNode} from '../rack/index.ts'
import {nodesWith} from '../volume/index.ts'
import type {Placement, RunSpec, TrainChoice} from './types.ts'
import {describeRun, processesOf, sizeOf} from './wishes.ts'

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
    const how = spares ? `, ${size.spares} of them as spares` : size.min < size.max ? ' at least' : ''
    const message = `${count} nodes are asked for${how}, and ${where} has ${chosen.length}${some}`
    throw new CliError('NOT_FOUND', message, {
      hint:
        spares && size.max <= chosen.length
          ? `flexrack train --spares ${chosen.length - size.max}`
          : `flexrack train --nodes ${chosen.length}`,
      details: {nodes: chosen.map((node) => node.name)},
    })
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

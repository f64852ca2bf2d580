import {CliError, type Context} from '../base/index.ts'
import {
  placeGang,
  WOULD_DO,
  type Candidate,
  type NodeReason,
  type PlacementRequest,
  type PlacementResult,
} from '../placement/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {askCandidates} from '../candidates/index.ts'
import {needed} from './needed.ts'
import type {ChosenPlacement, RunSpec, TrainChoice} from './types.ts'

/** So many nodes say in an error why they do not fit. */
const REPORTED = 4

type Placed = PlacementResult & {placed: true}

/**
 * Where GPUs are asked for: chooses nodes, GPUs, CPUs and cards among all nodes that are meant, and says why. With
 * `wait` and all of it taken: where the fewest runs make room for it (`room`: those that would, in the order in which they
 * would), else as if nobody had anything, to stand in line for that. Errors: RESERVED, GPU_UNAVAILABLE, NODE_UNFIT with
 * details {placement: reasons}; INTERRUPTED.
 */
export async function choosePlacement(
  spec: RunSpec,
  place: {rack: Rack; fleet: Fleet},
  choice: TrainChoice,
  room: () => Promise<string[]>,
  context: Context,
): Promise<RunSpec> {
  const {among, gpus = 0, size} = spec
  if (!among) return spec
  const nodes = spec.placements.length
  const least = size && size.min < size.max ? size.min : nodes
  const request = {
    nodes,
    processes: spec.processes,
    gpusPerRank: gpus,
    exclusive: spec.wants.exclusive,
    ...(spec.leased && {leased: spec.leased}),
  }
  const left = new Map(
    place.rack.nodes.filter((node) => !among.includes(node)).map((node) => [node.name, leftOut(choice)]),
  )
  const anyMemory = choice.preflight?.force === true || choice.preflight?.skip.includes('gpus') === true
  const candidates = await askCandidates(place.rack.nodes, place.fleet, {left, needsGpus: gpus > 0, anyMemory}, context)
  const able = spec.gpus === undefined && spec.wants.gpus === 'all' ? candidates.map(withoutShared) : candidates
  const waits = choice.wait !== undefined
  const isTaken = waits && !placeGang({...request, nodes: least}, able).placed
  return {...spec, ...settle(spec, place.rack, choosePlaces(request, able, waits, least, isTaken ? await room() : []))}
}

/** As many nodes as fit, up to request.nodes and not fewer than `least`. Pure. Errors: see choosePlacement. */
export function choosePlaces(
  wanted: PlacementRequest,
  candidates: Candidate[],
  waits: boolean,
  least = wanted.nodes,
  room: readonly string[] = [],
): {result: Placed; chosen: ChosenPlacement} {
  for (let nodes = wanted.nodes; nodes > least; nodes--) {
    const result = placeGang({...wanted, nodes}, candidates)
    if (result.placed) return {result, chosen: {waits: false, reasons: result.reasons}}
  }
  const request = {...wanted, nodes: least}
  const result = placeGang(request, candidates)
  if (result.placed) return {result, chosen: {waits: false, reasons: result.reasons}}
  const yielding = waits ? needed(room, (gone) => placeGang(request, without(candidates, gone)).placed) : []
  const later = waits ? placeGang(request, without(candidates, yielding.length > 0 ? yielding : undefined)) : undefined
  if (!later?.placed) throw unplaced(request, result)
  const reasons = result.reasons.map((now, at): NodeReason => {
    const then = later.reasons[at] as NodeReason
    return then.taken ? {...now, taken: true, why: `${now.why} The run stands in line for it.`} : now
  })
  return {result: later, chosen: {waits: true, reasons}}
}

/** As if these runs had nothing; undefined: as if nobody had. */
function without(candidates: Candidate[], runs: readonly string[] | undefined): Candidate[] {
  return candidates.map((one) => ({
    ...one,
    held: runs ? one.held.filter(({lease}) => lease === undefined || !runs.includes(lease)) : [],
  }))
}

/** Where no GPUs are chosen, a run has all of its nodes: one on which another run has some is taken. */
function withoutShared(candidate: Candidate): Candidate {
  const holder = candidate.held.find((one) => one.gpus.length > 0)
  return holder
    ? {...candidate, held: candidate.held.map((one) => (one === holder ? {...one, exclusive: true, here: true} : one))}
    : candidate
}

function settle(
  spec: RunSpec,
  rack: Rack,
  {result, chosen}: ReturnType<typeof choosePlaces>,
): Pick<RunSpec, 'placements' | 'chosen' | 'worldSize'> {
  const most = spec.size?.max ?? Infinity
  const placements = result.nodes.flatMap(({node, index, ranks}) => {
    const found = rack.nodes.find((one) => one.name === node)
    const own = index < most ? ranks.map((one) => one.rank) : []
    return found ? [{node: found, index, ranks: own, ...(spec.gpus !== undefined && {placed: ranks})}] : []
  })
  return {placements, chosen, worldSize: Math.min(placements.length, most) * spec.processes}
}

function unplaced(
  {nodes, processes, gpusPerRank, leased}: PlacementRequest,
  {reasons, fit, held}: PlacementResult & {placed: false},
): CliError {
  const size = processes * gpusPerRank
  const gpus = `${size === 1 ? '1 GPU' : `${size} GPUs`}${nodes === 1 ? '' : ' each'}`
  const what = `${nodes === 1 ? '1 node' : `${nodes} nodes`}${size === 0 ? '' : ` with ${gpus}`}`
  const lacking = reasons.filter((one) => one.why !== WOULD_DO)
  const reported = lacking
    .slice(0, REPORTED)
    .map(({node, why}) => `; ${node}: ${why.replace(/\.$/, '')}`)
    .join('')
  const more = lacking.length > REPORTED ? `; and ${lacking.length - REPORTED} more nodes, which --json names` : ''
  const fitting = fit === 0 ? 'none fits' : `only ${fit} of ${reasons.length} ${fit === 1 ? 'fits' : 'fit'}`
  const message = `${what} ${nodes === 1 ? 'is' : 'are'} asked for, and ${fitting}${reported}${more}`
  return new CliError(held ? 'RESERVED' : size > 0 ? 'GPU_UNAVAILABLE' : 'NODE_UNFIT', message, {
    details: {placement: reasons},
    // GPUs of others, and those in software, are lent: a node has none of its own then.
    hint: held
      ? 'flexrack train --wait\nflexrack rack reservations'
      : size > 0 && !leased
        ? `flexrack rack probe\nflexrack gpu list; GPUs that it shows are asked for by train.gpus: {count: ${gpusPerRank}, remote: true}`
        : 'flexrack rack probe',
  })
}

function leftOut({on, exclude}: TrainChoice): string {
  return exclude === undefined
    ? `it is not meant by --on ${on}`
    : on === undefined
      ? `it is left out by --exclude ${exclude}`
      : `it is not meant by --on ${on} --exclude ${exclude}`
}

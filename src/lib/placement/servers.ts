import {compareScores} from './group.ts'
import {LeasePool, type Offer} from './lease.ts'
import {serverLackText, serversText} from './servers-text.ts'
import type {Candidate, LeasedGpu, LeaseWish, NodeReason} from './types.ts'

/** What each of some servers needs. */
export interface ServersRequest {
  /** Leased GPUs; 0: none. */
  gpus: number
  wish: LeaseWish
  /** Bytes of memory beside the processors. */
  memory?: number
}

export interface PlacedServer {
  node: string
  /** What it would lease now; null: there is no room for it now, and could be later. */
  gpus: LeasedGpu[] | null
}

export interface ServersPlaced {
  /** For how many there is room now: the first of `servers`. */
  fit: number
  servers: PlacedServer[]
  /** One for each candidate, in their order. */
  reasons: NodeReason[]
}

/**
 * Nodes for servers, one after the other: those first that have what it needs themselves; of these the one with the
 * fewest of these servers, so that a lost node takes few along; then the best links between several GPUs, the most
 * memory left on the GPUs, the most memory beside the processors, the order of the rack file. Where there is no room
 * any more now, but could be, a server has a node and no GPUs. Pure.
 */
export function placeServers(request: ServersRequest, candidates: Candidate[], count: number): ServersPlaced {
  const {gpus, wish, memory = 0} = request
  const pool = new LeasePool(candidates, wish, new Set())
  const before = new Map(
    candidates.map(({node}) => [node, pool.of(node).map((one) => ({...one, free: {...one.free}}))]),
  )
  const left = new Map(candidates.map((one) => [one.node, one.memory ?? Infinity]))
  const servers: PlacedServer[] = []
  const on = (node: string): number => servers.filter((one) => one.node === node).length
  while (servers.length < count) {
    const [best] = candidates
      .flatMap((candidate, at) => {
        if (candidate.problem !== null || candidate.lendsOnly || (left.get(candidate.node) ?? 0) < memory) return []
        const offer = gpus === 0 ? NOTHING : pool.offer(candidate, gpus, wish)
        return offer ? [{candidate, at, offer, isFar: offer.devices.some(({node}) => node !== candidate.node)}] : []
      })
      .toSorted(
        (a, b) =>
          Number(a.isFar) - Number(b.isFar) ||
          on(a.candidate.node) - on(b.candidate.node) ||
          (a.offer.score && b.offer.score ? compareScores(a.offer.score, b.offer.score) : 0) ||
          b.offer.left - a.offer.left ||
          (gpus > 0 || memory > 0 ? (left.get(b.candidate.node) ?? 0) - (left.get(a.candidate.node) ?? 0) || 0 : 0) ||
          a.at - b.at,
      )
    if (!best) break
    pool.claim(best.offer, wish)
    left.set(best.candidate.node, (left.get(best.candidate.node) ?? 0) - memory)
    servers.push({node: best.candidate.node, gpus: best.offer.devices})
  }
  const fit = servers.length
  const later = candidates.filter(
    (one) => one.problem === null && !one.lendsOnly && couldLater(one, candidates, request),
  )
  while (servers.length < count && later.length > 0) {
    const [next] = later.toSorted((a, b) => on(a.node) - on(b.node))
    servers.push({node: (next as Candidate).node, gpus: null})
  }
  const reasons = candidates.map((candidate): NodeReason => {
    const mine = servers.filter((one) => one.node === candidate.node)
    const found = {...candidate, shared: before.get(candidate.node) ?? []}
    const why = mine.length > 0 ? serversText(found, request, mine) : serverLackText(found, request, fit)
    return {node: candidate.node, taken: mine.length > 0, why}
  })
  return {fit, servers, reasons}
}

const NOTHING: Offer = {devices: [], score: null, left: 0}

/** Whether it would have room if nobody else had anything. */
function couldLater(candidate: Candidate, candidates: Candidate[], {gpus, wish, memory = 0}: ServersRequest): boolean {
  if (gpus === 0) return false
  if ((candidate.memory ?? Infinity) < memory) return false
  const empty = candidates.map((one) => ({
    ...one,
    held: [],
    ...(one.shared && {
      shared: one.shared.map((device) => ({...device, whole: false, free: {memory: device.memory, compute: 1}})),
    }),
  }))
  return new LeasePool(empty, wish, new Set()).offer(candidate, gpus, wish) !== null
}

import {shareOf} from './share.ts'
import type {Candidate, LeasedGpu, LeaseWish, PlacementRequest} from './types.ts'
import type {FreeShare} from '../protocol/index.ts'

/** A device that some node shares, and what this gang has left of it so far. */
interface Pooled extends FreeShare {
  node: string
}

/**
 * What all nodes share, as far as no run has reserved it. `used`: UUIDs that this gang takes as whole GPUs of their
 * nodes.
 */
export class LeasePool {
  private readonly devices: Pooled[]

  constructor(candidates: Candidate[], wish: LeaseWish, used: ReadonlySet<string>) {
    const theirs = new Set([...used, ...candidates.flatMap((one) => one.held.flatMap((held) => held.gpus))])
    const all = candidates.flatMap(({node, problem, shared}) =>
      problem === null ? (shared ?? []).map((one): Pooled => ({...one, node, free: {...one.free}})) : [],
    )
    const api = wish.api ?? (all.some((one) => one.api === 'cuda') ? 'cuda' : 'opencl')
    const once = new Map(all.map((one) => [one.id, one])) // nodes of one machine may share one device
    this.devices = [...once.values()].filter((one) => one.api === api && !theirs.has(one.id))
  }

  /**
   * Devices for each rank of a node, all of them or null, and then nothing is taken: of the node itself first, then of
   * other nodes where the wish allows it, those before all of which the gang has something already; of equals the one
   * with the most free memory. A rank never gets a device twice.
   */
  take(
    node: string,
    {processes, gpusPerRank}: Pick<PlacementRequest, 'processes' | 'gpusPerRank'>,
    wish: LeaseWish,
  ): LeasedGpu[][] | null {
    const before = this.devices.map((one) => ({...one.free}))
    const servers = new Set<string>([node])
    const ranks: LeasedGpu[][] = []
    for (let local = 0; local < processes; local++) {
      const mine: LeasedGpu[] = []
      while (mine.length < gpusPerRank) {
        const found = this.next(node, mine, servers, wish)
        if (!found) {
          for (const [at, device] of this.devices.entries()) device.free = before[at] as Pooled['free']
          return null
        }
        servers.add(found.node)
        mine.push(found)
      }
      ranks.push(mine)
    }
    return ranks
  }

  /** How many devices a node could have, one share each. */
  count(node: string, wish: LeaseWish): number {
    return this.devices.filter((one) => (wish.remote || one.node === node) && fits(one, wish)).length
  }

  private next(node: string, mine: LeasedGpu[], servers: ReadonlySet<string>, wish: LeaseWish): LeasedGpu | undefined {
    const nearness = (one: Pooled): number => (one.node === node ? 0 : servers.has(one.node) ? 1 : 2)
    const [best] = this.devices
      .filter(
        (one) => (wish.remote || one.node === node) && fits(one, wish) && !mine.some((other) => other.id === one.id),
      )
      .toSorted((a, b) => nearness(a) - nearness(b) || b.free.memory - a.free.memory)
    if (!best) return undefined
    const share = shareOf(best, wish)
    best.free = {memory: best.free.memory - share.memory, compute: best.free.compute - share.compute}
    return {node: best.node, id: best.id, index: best.index, name: best.name, api: best.api, memory: share.memory}
  }
}

function fits(device: FreeShare, wish: LeaseWish): boolean {
  const share = shareOf(device, wish)
  if (device.whole) return false
  return share.memory <= device.free.memory && share.compute <= device.free.compute + 1e-9
}

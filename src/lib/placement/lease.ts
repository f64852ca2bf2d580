import {bestGroup} from './group.ts'
import {shareOf} from './share.ts'
import type {Candidate, GroupScore, LeasedGpu, LeaseWish, PlacementRequest} from './types.ts'
import type {FreeShare} from '../protocol/index.ts'

/** A device that some node shares, and what this gang has left of it so far. */
interface Pooled extends FreeShare {
  node: string
}

/** What one process of a node could have, without taking it. */
export interface Offer {
  devices: LeasedGpu[]
  /** How the devices are linked; null: of one, of other nodes, or nobody knows. */
  score: GroupScore | null
  /** Bytes free on the devices beside it. */
  left: number
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

  /**
   * Devices for one process: of the node itself where it has enough, those with the best links, else those with the most
   * free memory; else as `take` has them. Null where there are too few.
   */
  offer({node, topology}: Pick<Candidate, 'node' | 'topology'>, gpus: number, wish: LeaseWish): Offer | null {
    const own = this.devices.filter((one) => one.node === node && fits(one, wish))
    if (own.length < gpus) {
      const before = this.devices.map((one) => ({...one.free}))
      const devices = wish.remote ? this.take(node, {processes: 1, gpusPerRank: gpus}, wish)?.[0] : undefined
      for (const [at, device] of this.devices.entries()) device.free = before[at] as Pooled['free']
      return devices ? {devices, score: null, left: this.#left(devices)} : null
    }
    const places = own.map((one) => topology?.gpus.findIndex(({uuid}) => uuid === one.id) ?? -1)
    const group = topology && gpus > 1 && !places.includes(-1) ? bestGroup(topology, places, gpus) : null
    const chosen = group
      ? own.filter((_, at) => group.members.includes(places[at] ?? -1))
      : own.toSorted((a, b) => b.free.memory - a.free.memory).slice(0, gpus)
    const devices = chosen.map((one) => leasedOf(one, wish))
    return {devices, score: group?.score ?? null, left: this.#left(devices)}
  }

  /** Takes what was offered, and nothing was taken since. */
  claim({devices}: Offer, wish: LeaseWish): void {
    for (const {id} of devices) {
      const device = this.devices.find((one) => one.id === id)
      if (device) take(device, wish)
    }
  }

  /** Devices that a node shares, as they are left now. */
  of(node: string): readonly FreeShare[] {
    return this.devices.filter((one) => one.node === node)
  }

  #left(devices: LeasedGpu[]): number {
    return devices.reduce(
      (sum, {id, memory}) => sum + (this.devices.find((one) => one.id === id)?.free.memory ?? 0) - memory,
      0,
    )
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
    take(best, wish)
    return leasedOf(best, wish)
  }
}

function take(device: Pooled, wish: LeaseWish): void {
  const {memory, compute} = shareOf(device, wish)
  device.free = {memory: device.free.memory - memory, compute: device.free.compute - compute}
}

function leasedOf({node, id, index, name, api, memory}: Pooled, wish: LeaseWish): LeasedGpu {
  return {node, id, index, name, api, memory: shareOf({memory}, wish).memory}
}

function fits(device: FreeShare, wish: LeaseWish): boolean {
  const share = shareOf(device, wish)
  if (device.whole) return false
  return share.memory <= device.free.memory && share.compute <= device.free.compute + 1e-9
}

import type {MachineFacts, NicFact, RdmaFact} from '../protocol/index.ts'
import {linkRank} from './link.ts'
import type {GpuPlace, Link, NicPlace} from './types.ts'

/** A card counts as one of those that carry the load from this share of the fastest one's speed. */
const SLOWEST_SHARE = 0.5

/**
 * Cards that reach other machines: what does RDMA, cards that do not, and those that only the matrix names. One for
 * each device, its best port. Slices of a card that is there itself are left out: a card of 16 would hide all others.
 */
export function readNics({infiniband = [], nics = [], links}: MachineFacts): NicPlace[] {
  const buses = new Set([...infiniband, ...nics].map((one) => one.bus))
  const isWhole = (one: {part_of?: string}): boolean => one.part_of === undefined || !buses.has(one.part_of)
  const byName = new Map(nics.map((nic) => [nic.name, nic]))
  const ports = infiniband
    .filter(isWhole)
    .toSorted((a, b) => Number(b.state === 'ACTIVE') - Number(a.state === 'ACTIVE') || a.port - b.port)
  const devices = [...new Set(infiniband.filter(isWhole).map((port) => port.device))]
  const rdma = devices.map((device) => rdmaPlace(ports.find((port) => port.device === device) as RdmaFact, byName))
  const plain = nics
    .filter(
      (nic) =>
        nic.kind === 'physical' &&
        isWhole(nic) &&
        !ports.some((port) => port.netdev === nic.name || (nic.bus !== undefined && port.bus === nic.bus)),
    )
    .map(plainPlace)
  const known = new Set([...infiniband.map((port) => port.device), ...byName.keys()])
  const named = (links?.devices ?? []).filter((name) => !/^GPU\d+$/.test(name) && !known.has(name))
  return [...rdma, ...plain, ...named.map(unseenPlace)]
}

function rdmaPlace(port: RdmaFact, byName: Map<string, NicFact>): NicPlace {
  const beside = port.netdev === undefined ? undefined : byName.get(port.netdev)
  return {
    name: port.device,
    netdev: port.netdev ?? null,
    kind: port.link === 'InfiniBand' ? 'infiniband' : port.link === 'Ethernet' ? 'roce' : 'unknown',
    up: port.state === undefined ? null : port.state === 'ACTIVE',
    speed: port.rate ?? null,
    maxSpeed: beside?.max_speed === undefined ? null : beside.max_speed / 1000,
    type: port.type ?? null,
    numaNode: port.numa_node ?? null,
    pcie: port.pcie ?? null,
  }
}

function plainPlace(nic: NicFact): NicPlace {
  const {name, up, speed, max_speed: max, numa_node: node, pcie} = nic
  return {
    name,
    netdev: name,
    kind: 'ethernet',
    up,
    speed: speed === undefined ? null : speed / 1000,
    maxSpeed: max === undefined ? null : max / 1000,
    type: null,
    numaNode: node ?? null,
    pcie: pcie ?? null,
  }
}

function unseenPlace(name: string): NicPlace {
  return {
    name,
    netdev: null,
    kind: 'unknown',
    up: null,
    speed: null,
    maxSpeed: null,
    type: null,
    numaNode: null,
    pcie: null,
  }
}

/**
 * The card for a GPU's traffic to other nodes: of those that carry the load (RDMA before Ethernet, and not much slower
 * than the fastest) the one that is nearest; of equals the faster, then the first. `links[i]`: of nics[i] to the GPU.
 */
export function nearestNic(nics: NicPlace[], links: Link[]): GpuPlace['nic'] {
  const working = nics.filter((nic) => nic.up !== false)
  const rdma = working.filter((nic) => nic.kind !== 'ethernet')
  const fit = rdma.length > 0 ? rdma : working
  const fastest = Math.max(0, ...fit.map((nic) => nic.speed ?? 0))
  const [best] = fit
    .filter((nic) => nic.speed === null || nic.speed >= fastest * SLOWEST_SHARE)
    .map((nic) => ({nic, link: links[nics.indexOf(nic)] ?? {kind: 'unknown' as const}}))
    .toSorted((a, b) => linkRank(b.link) - linkRank(a.link) || (b.nic.speed ?? 0) - (a.nic.speed ?? 0))
  return best ? {name: best.nic.name, netdev: best.nic.netdev, link: best.link} : null
}

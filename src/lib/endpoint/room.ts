import {CliError, isCliError, sizeText} from '../base/index.ts'
import {askCandidates} from '../candidates/index.ts'
import {OWN_LEASES} from '../gpu/index.ts'
import {placeServers, type NodeReason, type ServersPlaced} from '../placement/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Replica} from './document.ts'
import type {ServerNeeds} from './needs.ts'
import {serverAddress, serviceId} from './placement.ts'
import type {Site} from './site.ts'

export interface Room {
  replicas: Replica[]
  reasons: NodeReason[]
}

/**
 * Nodes for servers that need GPUs or memory, by what is free on these nodes now. `least`: so many start at once, and
 * have to have room; the others may get it later. Only looks. Errors: GPU_UNAVAILABLE or NODE_UNFIT with details
 * {placement: reasons}; INTERRUPTED.
 */
export async function findRoom(
  site: Site,
  needs: ServerNeeds,
  {
    nodes,
    service,
    first,
    count,
    least,
  }: {
    nodes: RackNode[]
    /** Endpoint and release. */
    service: [endpoint: string, release: string]
    /** Index of the first server. */
    first: number
    count: number
    least: number
  },
): Promise<Room> {
  const left = new Map(nodes.flatMap((node) => unreached(site, node)))
  const others = site.rack.nodes.filter((node) => needs.gpus?.remote && !nodes.includes(node))
  const asked = await askCandidates(
    [...nodes, ...others],
    site.fleet,
    {left, needsGpus: false, anyMemory: true},
    site.context,
  )
  // of others it may lease, and they get no server
  const candidates = asked.map((one) => (others.some(({name}) => name === one.node) ? {...one, lendsOnly: true} : one))
  const found = placeServers(requestOf(needs), candidates, count)
  if (found.fit < least) throw noRoom(needs, found, least)
  const replicas = found.servers.map(({node, gpus}, at): Replica => ({
    index: first + at,
    node,
    service: serviceId(...service, first + at),
    ...(gpus && gpus.length > 0 && {devices: gpus.map(({node: owner, id}) => ({node: owner, id}))}),
  }))
  return {replicas, reasons: found.reasons.filter(({node}) => nodes.some(({name}) => name === node))}
}

function requestOf({gpus, memory}: ServerNeeds): Parameters<typeof placeServers>[0] {
  const {count = 0, remote = false, cap: _, ...share} = gpus ?? {}
  return {gpus: count, wish: {...share, remote}, ...(memory !== undefined && {memory})}
}

function noRoom({gpus, memory}: ServerNeeds, {fit, reasons}: ServersPlaced, least: number): CliError {
  const each = [gpus && OWN_LEASES.text(gpus), memory !== undefined && `${sizeText(memory)} of memory`]
  const what = `${least} server${least === 1 ? '' : 's'} with ${each.filter(Boolean).join(' and ')}${least === 1 ? '' : ' each'}`
  const why = reasons.map((one) => `${one.node}: ${one.why}`).join(' ')
  return new CliError(
    gpus ? 'GPU_UNAVAILABLE' : 'NODE_UNFIT',
    `${what} ${least === 1 ? 'is' : 'are'} asked for, and there is room for ${fit === 0 ? 'none' : fit} now. ${why}`,
    {hint: gpus ? 'flexrack gpu leases' : 'flexrack rack show', details: {placement: reasons}},
  )
}

/** A node that the head could not reach gets no server. */
function unreached(site: Site, node: RackNode): [node: string, why: string][] {
  try {
    serverAddress(site.rack, node, 'found later')
    return []
  } catch (error) {
    if (!isCliError(error)) throw error
    return [[node.name, error.message]]
  }
}

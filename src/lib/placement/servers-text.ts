import {linkText} from '../topology/index.ts'
import {scoreGroup} from './group.ts'
import type {PlacedServer, ServersRequest} from './servers.ts'
import {shareOf} from './share.ts'
import type {Candidate, LeasedGpu} from './types.ts'

/** What is put on a node, and of what it had free, one sentence. */
export function serversText(candidate: Candidate, request: ServersRequest, servers: PlacedServer[]): string {
  const now = servers.filter((one) => one.gpus !== null)
  const parts = now.map(({gpus}) =>
    gpus && gpus.length > 0 ? devicesText(candidate, gpus) : 'memory alone is asked for',
  )
  const counted = [...Map.groupBy(parts, (one) => one)].map(([text, same]) => `${servedBy(same.length)}: ${text}`)
  const later = servers.length - now.length
  const more = later > 0 ? [`${servedBy(later)} more once there is room`] : []
  return `${[...counted, ...more].join('; ')}. ${freeText(candidate, request)}`
}

/** Why a node gets none, one sentence. `fit`: how many have room elsewhere. */
export function serverLackText(candidate: Candidate, request: ServersRequest, fit: number): string {
  const {problem, memory} = candidate
  if (problem !== null)
    return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}${/[.!?]$/.test(problem) ? '' : '.'}`
  if (request.memory !== undefined && memory !== undefined && memory < request.memory)
    return `${size(request.memory)} of memory are asked for a server, and it has ${size(memory)}.`
  const free = freeText(candidate, request)
  return roomOf(candidate, request) && fit > 0 ? `It would do, and others do better. ${free}` : free
}

function servedBy(count: number): string {
  return `${count} server${count === 1 ? '' : 's'}`
}

function devicesText({node, topology}: Candidate, gpus: LeasedGpu[]): string {
  const byNode = [...Map.groupBy(gpus, (one) => one.node)]
  const where = byNode.map(
    ([owner, own]) => `${own.map(({index}) => `GPU${index}`).join(', ')} of ${owner === node ? 'its own' : owner}`,
  )
  const at = gpus.map(({id}) => topology?.gpus.findIndex(({uuid}) => uuid === id) ?? -1)
  const link = gpus.length > 1 && topology && !at.includes(-1) ? scoreGroup(topology, at).link : null
  const far = byNode.some(([owner]) => owner !== node) ? ', over the network' : ''
  return `${where.join(' and ')}${link && link.kind !== 'unknown' ? ` (${linkText(link)} at worst)` : ''}${far}`
}

/** The arithmetic: what each device had free, and what a server takes of it. */
function freeText({shared = [], memory}: Candidate, {gpus, wish, memory: needed}: ServersRequest): string {
  const beside = needed === undefined ? '' : ` ${size(needed)} of ${size(memory ?? 0)} of memory each.`
  if (gpus === 0) return `It has${beside}`
  if (shared.length === 0) return `Its GPU daemon shares nothing that a server could have.${beside}`
  const each = shared.map((one) => {
    const share = shareOf(one, wish)
    const has = one.whole
      ? 'all of it is taken'
      : `${size(one.free.memory)} of ${size(one.memory)} and ${Math.round(one.free.compute * 100)} % of the time free`
    return `GPU${one.index}: ${has}, ${share.whole ? 'all of it' : size(share.memory)} for a server`
  })
  return `${each.join('; ')}.${beside}`
}

function roomOf({shared = []}: Candidate, {gpus, wish}: ServersRequest): boolean {
  const fitting = shared.filter((one) => {
    const share = shareOf(one, wish)
    return !one.whole && share.memory <= one.free.memory && share.compute <= one.free.compute + 1e-9
  })
  return fitting.length >= gpus
}

function size(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`
}

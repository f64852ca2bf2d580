import {isIP} from 'node:net'
import {CliError} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {NodeAddress, NodeRoute} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'

/** Of a node, what says how it is reached. */
type Named = Pick<RackNode, 'name' | 'address'>

/**
 * How a node reaches others, and the address `to` where there is one. What it answers is bound to, certified and called
 * by others, so only IP addresses are taken from it. Errors: those of a call, NODE_UNFIT for anything else than an
 * address.
 */
export async function askRoute(host: Host, to?: string, signal?: AbortSignal): Promise<NodeRoute> {
  const route = await host.call('run.route', {to}, {signal})
  const strange = strangeIn(route)
  if (strange.length > 0)
    throw new CliError('NODE_UNFIT', `${host.node} names ${JSON.stringify(strange[0])} as an address of its own`, {
      details: {node: host.node},
    })
  return route
}

/** What of an answer is not what it should be. isIP alone takes a list with one address in it for an address. */
function strangeIn({outgoing, source, interfaces, machine}: NodeRoute): unknown[] {
  const isAddress = (value: unknown): boolean => typeof value === 'string' && isIP(value) !== 0
  if (!Array.isArray(interfaces)) return [interfaces]
  return [
    ...[outgoing, source].filter((one) => one !== null && one !== undefined && !isAddress(one)),
    ...interfaces.filter((one: Partial<NodeAddress> | null) => !isAddress(one?.address) || !isAddress(one?.netmask)),
    ...(typeof machine === 'string' ? [] : [machine]),
  ]
}

/**
 * The address at which the other nodes reach the first one: what the rack file says; 127.0.0.1 where all are one
 * machine; the one of its interfaces whose network most of the others are in; else that of its default route. Pure.
 * Errors: NODE_UNFIT where it has none.
 */
export function addressForOthers(nodes: Named[], routes: ReadonlyMap<string, NodeRoute>): string {
  const [leader, ...members] = nodes as [Named, ...Named[]]
  if (leader.address) return leader.address
  const own = routes.get(leader.name)
  if (members.every((node) => own?.machine && routes.get(node.name)?.machine === own.machine)) return '127.0.0.1'
  const others = members.flatMap(
    (node) => routes.get(node.name)?.interfaces.filter((one) => !isLoopback(one.address)) ?? [],
  )
  const near = (own?.interfaces ?? [])
    .filter((one) => !isLoopback(one.address))
    .map((one) => ({
      address: one.address,
      count: others.filter((other) => other.address !== one.address && inNetwork(other.address, one)).length,
    }))
    .sort((a, b) => b.count - a.count || Number(b.address === own?.outgoing) - Number(a.address === own?.outgoing))[0]
  if (near && near.count > 0) return near.address
  const address = own?.outgoing ?? near?.address
  if (address) return address
  throw new CliError('NODE_UNFIT', `${leader.name} has no address at which the other nodes could reach it`, {
    hint: `set \`address:\` of ${leader.name} in the rack file`,
    details: {node: leader.name},
  })
}

function inNetwork(address: string, network: {address: string; netmask: string}): boolean {
  const mask = toNumber(network.netmask)
  return mask !== 0 && (toNumber(address) & mask) === (toNumber(network.address) & mask)
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => (sum << 8) | Number(part), 0)
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.')
}

import {isLoopback} from '../base/index.ts'
import {setTimeout as pause} from 'node:timers/promises'
import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {addressForOthers, askRoute} from '../route/index.ts'
import type {NodeRoute} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {headNode} from './places.ts'

const LOOPBACK = '127.0.0.1'
/** Nodes that are slow to answer are not waited for longer: those that answer tell enough. */
const PATIENCE_MS = 15_000

/**
 * The address on which the head listens: what the rack file says; loopback where all nodes are one machine; else the
 * one at which the other nodes reach it, found by route as gangs find theirs. Errors: those of openHost for the head's
 * node, NODE_UNFIT where it has no address.
 */
export async function listenAddress(rack: Rack, node: RackNode, fleet: Fleet, context: Context): Promise<string> {
  return rack.head.bind ?? foundAddress(rack, node, fleet, context)
}

/** The same of a standby: `head.bind` is the head's, unless it stands for all addresses or for loopback. */
export async function standbyAddress(rack: Rack, fleet: Fleet, context: Context): Promise<string> {
  const {bind} = rack.head
  if (bind !== undefined && (['0.0.0.0', '::'].includes(bind) || isLoopback(bind))) return bind
  return foundAddress(rack, headNode(rack, 'standby'), fleet, context)
}

async function foundAddress(rack: Rack, node: RackNode, fleet: Fleet, context: Context): Promise<string> {
  const others = rack.nodes.filter((one) => one.host !== node.host)
  if (others.length === 0) return LOOPBACK
  if (node.address !== undefined) return node.address
  const ask = async (one: RackNode): Promise<[string, NodeRoute]> => [
    one.name,
    await askRoute(await openHost(fleet, one, context), undefined, context.signal),
  ]
  const own = await ask(node)
  const late = new AbortController()
  const answered = new Map([own])
  const requested = Promise.allSettled(others.map(async (one) => answered.set(...(await ask(one)))))
  await Promise.race([requested, pause(PATIENCE_MS, undefined, {signal: late.signal}).catch(() => {})])
  late.abort()
  const known = others.filter((one) => answered.has(one.name))
  // Where none of them answers, the way out of the machine is the best guess.
  return known.length > 0 ? addressForOthers([node, ...known], answered) : (own[1].outgoing ?? LOOPBACK)
}

/** A warning where nodes on other machines cannot reach a listener on loopback; undefined where all is well. */
export function reachWarning(rack: Rack, node: RackNode, address: string): string | undefined {
  const far = rack.nodes.filter((one) => one.host !== node.host).map((one) => one.name)
  if (far.length === 0 || !isLoopback(address) || rack.head.url) return undefined
  const remedy = `take head.bind out of ${rack.path}, or set it to an address that they reach`
  return `the head listens on ${address} only, so ${far.join(', ')} cannot reach it: ${remedy}`
}

import {isLoopback} from '../base/index.ts'
import {readFile} from 'node:fs/promises'
import {connect, type NetConnectOpts} from 'node:net'
import type {Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Reachable, WayQuestion} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet, Forward} from '../ssh/index.ts'
import type {TakenLease} from './take.ts'

/**
 * shared-memory: both are one machine; address: straight to the daemon's; tunnel: through SSH, because nothing else
 * leads there.
 */
export type RouteWay = 'shared-memory' | 'address' | 'tunnel'

/** How a command reaches one daemon. */
export interface Route {
  address: string
  port: number
  /** The daemon's socket, where the command can open it; else empty. */
  unix: string
  way: RouteWay
  /** Ends the tunnel, if it is one. */
  close(): Promise<void>
}

const TRY_MS = 2000
const ANSWER_BYTES = 16

/**
 * Finds the way from where the command runs (`from`; undefined is this machine) to the daemon of a lease by trying:
 * shared memory, unless `transport` is one of the network; an address; else a tunnel through SSH that lasts until
 * `close`.
 */
export async function findRoute(
  {rack, fleet}: {rack: Rack; fleet: Fleet},
  {node, server, lease}: TakenLease,
  {from, transport = server.transport}: {from?: Host | undefined; transport?: string | undefined},
  context: Context,
): Promise<Route> {
  const rackNode = rack.nodes.find((one) => one.name === node) as RackNode
  const local = ownAddress(server)
  const question = wayTo({server, lease}, rackNode)
  const found = from ? await from.call('gpu.reach', question, {signal: context.signal}) : await lookFromHere(question)
  const here = {port: server.port, unix: found.unix ? server.unix : '', close: async () => {}}
  if (found.unix && transport !== 'tls' && transport !== 'tcp')
    return {...here, address: found.address ?? local, way: 'shared-memory'}
  if (found.address !== null) return {...here, address: found.address, way: 'address'}
  return openTunnel((await openHost(fleet, rackNode, context)).shell, {host: local, port: server.port}, from)
}

/** What is asked for the way to the daemon of a lease, which runs on `node`. Pure. */
export function wayTo({server, lease}: Pick<TakenLease, 'server' | 'lease'>, node: RackNode): WayQuestion {
  const local = ownAddress(server)
  return {
    unix: server.unix,
    boot_id: server.boot_id,
    loopback: isLoopback(local) ? local : null,
    addresses: candidates(server.address, node),
    port: server.port,
    lease,
  }
}

/** Where it is reached on its own machine. */
function ownAddress({address}: Pick<TakenLease['server'], 'address'>): string {
  return isLoopback(address) || isWildcard(address) ? '127.0.0.1' : address
}

/** Where else than there a daemon may be reached. Loopback is nobody else's. */
export function candidates(bound: string, node: RackNode): string[] {
  if (isLoopback(bound)) return []
  return isWildcard(bound)
    ? [...new Set([node.address, node.host].filter((one) => one !== undefined && !isLoopback(one)) as string[])]
    : [bound]
}

/** The same question as gpu.reach of a node (node/flexrack_node/gpu/reach.py). */
async function lookFromHere({
  unix,
  boot_id: bootId,
  loopback,
  addresses,
  port,
  lease,
}: WayQuestion): Promise<Reachable> {
  const own = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  // The same kernel is not yet the same machine: a container has its own files and its own loopback.
  const isSameKernel = bootId !== '' && own.trim() === bootId
  const hosts = isSameKernel && loopback !== null ? [loopback, ...addresses] : addresses
  const [unixAnswers, ...answers] = await Promise.all([
    isSameKernel && isThere({path: unix}, lease),
    ...hosts.map((host) => isThere({host, port}, lease)),
  ])
  return {unix: unixAnswers === true, address: hosts.find((_, index) => answers[index]) ?? null}
}

/**
 * Whether the daemon that granted the lease answers there: another program, or another daemon, does not know it. Proves
 * nothing, as it needs not.
 */
function isThere(where: NetConnectOpts, lease: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(where)
    let answer = Buffer.alloc(0)
    const end = (is: boolean): void => {
      clearTimeout(late)
      socket.destroy()
      resolve(is)
    }
    const late = setTimeout(() => end(false), TRY_MS)
    socket
      .once('connect', () => socket.write(preamble(lease)))
      .once('error', () => end(false))
      .once('close', () => end(false))
    socket.on('data', (more) => {
      answer = Buffer.concat([answer, more])
      if (answer.length >= ANSWER_BYTES) end(answer.toString('latin1', 0, 4) === 'FLXA' && answer.readUInt16LE(6) === 0)
    })
  })
}

/** As of a holder over TLS (docs/protocol.md, section 1), which goes no further. */
function preamble(lease: string): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.write('FLEXRACK', 'latin1')
  bytes.set([1, 0, 1, 0, 4, 1], 8)
  bytes.write(lease, 24, 16, 'hex')
  return bytes
}

/** To this machine, and from there on to the node where the command runs, if it is not here. */
async function openTunnel(
  shell: Host['shell'],
  to: {host: string; port: number},
  from: Host | undefined,
): Promise<Route> {
  const near = await shell.forwardLocal({targetHost: to.host, targetPort: to.port})
  const far: Forward | undefined =
    from && (await from.shell.forwardRemote({targetHost: '127.0.0.1', targetPort: near.port}))
  const close = async (): Promise<void> => {
    await far?.close()
    await near.close()
  }
  return {address: '127.0.0.1', port: (far ?? near).port, unix: '', way: 'tunnel', close}
}

export function isWildcard(address: string): boolean {
  return ['', '0.0.0.0', '::', '*'].includes(address)
}

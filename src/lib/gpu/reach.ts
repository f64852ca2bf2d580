import {access, readFile} from 'node:fs/promises'
import {connect} from 'node:net'
import type {Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet, Forward} from '../ssh/index.ts'
import type {TakenLease} from './take.ts'

/** How a command reaches one daemon. */
export interface Route {
  address: string
  port: number
  /** The daemon's socket, where the command runs on the same machine. */
  unix: string
  /** Through SSH, because nothing else leads there. */
  tunnel: boolean
  /** Ends the tunnel, if it is one. */
  close(): Promise<void>
}

/** Which of these a command could use where it runs. */
interface Reachable {
  /** The daemon's machine is the same, and its socket can be opened. */
  unix: boolean
  /** Position in `addresses` of the first that answers; null where none does. */
  address: number | null
}

interface Question {
  unix: string
  boot_id: string
  addresses: string[]
  port: number
}

const CONNECT_MS = 2000

/**
 * Finds the way from where the command runs (`from`; undefined is this machine) to the daemon of a lease: the same machine,
 * an address that answers, else a tunnel through SSH that lasts until `close`.
 */
export async function findRoute({rack, fleet}: {rack: Rack; fleet: Fleet}, {node, server}: TakenLease, from: Host | undefined, context: Context): Promise<Route> {
  const rackNode = rack.nodes.find((one) => one.name === node) as RackNode
  const question: Question = {unix: server.unix, boot_id: server.boot_id, addresses: candidates(server.address, rackNode), port: server.port}
  const found = from ? await from.call<Reachable>('gpu.reach', question, {signal: context.signal}) : await lookFromHere(question)
  const local = isLoopback(server.address) || isWildcard(server.address) ? '127.0.0.1' : server.address
  const none = {tunnel: false, close: async () => {}}
  if (found.unix) return {address: local, port: server.port, unix: server.unix, ...none}
  const address = found.address === null ? undefined : question.addresses[found.address]
  if (address !== undefined) return {address, port: server.port, unix: '', ...none}
  return openTunnel((await openHost(fleet, rackNode, context)).shell, {host: local, port: server.port}, from)
}

/** Where else than on its own machine a daemon may be reached. Loopback is nobody else's. */
function candidates(bound: string, node: RackNode): string[] {
  if (isLoopback(bound)) return []
  return isWildcard(bound) ? [...new Set([node.address, node.host].filter((one) => one !== undefined && !isLoopback(one)) as string[])] : [bound]
}

async function lookFromHere({unix, boot_id: bootId, addresses, port}: Question): Promise<Reachable> {
  const own = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  // The same kernel is not yet the same machine: a container has its own files and its own loopback.
  if (bootId !== '' && own.trim() === bootId && (await access(unix).then(() => true, () => false))) return {unix: true, address: null}
  const answers = await Promise.all(addresses.map((address) => canConnect(address, port)))
  const first = answers.indexOf(true)
  return {unix: false, address: first === -1 ? null : first}
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({host, port, timeout: CONNECT_MS})
    const end = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true)).once('timeout', () => end(false)).once('error', () => end(false))
  })
}

/** To this machine, and from there on to the node where the command runs, if it is not here. */
async function openTunnel(shell: Host['shell'], to: {host: string; port: number}, from: Host | undefined): Promise<Route> {
  const near = await shell.forwardLocal({targetHost: to.host, targetPort: to.port})
  const far: Forward | undefined = from && (await from.shell.forwardRemote({targetHost: '127.0.0.1', targetPort: near.port}))
  const close = async (): Promise<void> => {
    await far?.close()
    await near.close()
  }
  return {address: '127.0.0.1', port: (far ?? near).port, unix: '', tunnel: true, close}
}

export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || address.startsWith('127.')
}

export function isWildcard(address: string): boolean {
  return ['', '0.0.0.0', '::', '*'].includes(address)
}

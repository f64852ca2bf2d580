import {execFileSync, spawnSync} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Rack} from '../../src/lib/rack/index.ts'
import {startSshd, type TestSshd} from './sshd.ts'

/** Nodes in network namespaces of their own with a real OpenSSH server each, joined by a bridge. Needs root. */
export interface TestNetRack {
  rack: Rack
  /** Address of a node, by its name. */
  addresses: Record<string, string>
  /** The server of a node, by its name. */
  servers: Record<string, TestSshd>
  /** Pulls a node's cable, or plugs it in again. */
  link(node: string, state: 'up' | 'down'): void
  /** Runs a command in a node's namespace: `inside('node-1', 'ip', 'route', ...)`. */
  inside(node: string, ...words: string[]): string
  stop(): Promise<void>
}

/** Whether this machine lets us make namespaces and links. */
export function mayMakeNetworks(): boolean {
  if (process.getuid?.() !== 0) return false
  const name = `fxtry${process.pid}`
  const made = spawnSync('ip', ['netns', 'add', name]).status === 0
  if (made) spawnSync('ip', ['netns', 'del', name])
  return made
}

let number = 0

/** `env`: of the sessions on a node. */
export async function startNetRack(count: number, environments?: string, env: (node: string) => Record<string, string> = () => ({})): Promise<TestNetRack> {
  const id = `${process.pid % 100000}${String.fromCharCode(97 + number++)}`
  // 198.18.0.0/15 is for tests of networks (RFC 2544); no machine has it as its own.
  const subnet = `198.18.${process.pid % 256}`
  const bridge = `fxb${id}`
  const names = Array.from({length: count}, (_, index) => `node-${index + 1}`)
  const space = (node: string): string => `fx${id}-${node}`
  const servers: Record<string, TestSshd> = {}
  const outer = (node: string): string => `fx${names.indexOf(node)}v${id}`
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-net-'))
  const inside = (node: string, ...words: string[]): string => execFileSync('ip', ['netns', 'exec', space(node), ...words], {encoding: 'utf8'})
  const stop = async (): Promise<void> => {
    await Promise.all(Object.values(servers).map((one) => one.stop()))
    for (const node of names) spawnSync('ip', ['netns', 'del', space(node)])
    spawnSync('ip', ['link', 'del', bridge])
    await rm(folder, {recursive: true, force: true})
  }
  try {
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('addr', 'add', `${subnet}.254/24`, 'dev', bridge)
    ip('link', 'set', bridge, 'up')
    const addresses: Record<string, string> = {}
    for (const [index, node] of names.entries()) {
      const address = `${subnet}.${index + 1}`
      ip('netns', 'add', space(node))
      ip('link', 'add', outer(node), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space(node))
      ip('link', 'set', outer(node), 'master', bridge, 'up')
      ip('-n', space(node), 'addr', 'add', `${address}/24`, 'dev', 'eth0')
      ip('-n', space(node), 'link', 'set', 'lo', 'up')
      ip('-n', space(node), 'link', 'set', 'eth0', 'up')
      addresses[node] = address
      servers[node] = await startSshd({address, inside: ['ip', 'netns', 'exec', space(node)], env: env(node)})
    }
    const nodes = names.map((node) => ({...(servers[node] as TestSshd).target(node), root: `~/${node}`, labels: {}, ...(environments !== undefined && {environments})}))
    return {rack: {name: 'net', path: join(folder, 'net.yaml'), nodes, head: {node: names[0] as string, bind: '127.0.0.1'}}, addresses, servers, link: (node, state) => ip('link', 'set', outer(node), state), inside, stop}
  } catch (error) {
    await stop()
    throw error
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words)
}

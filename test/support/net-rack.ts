import {execFileSync, spawnSync} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
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
  /** Bytes that this machine itself has sent to the nodes; what they say to each other is not in it. */
  sentBytes(): Promise<number>
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
export async function startNetRack(
  count: number,
  environments?: string,
  env: (node: string) => Record<string, string> = () => ({}),
): Promise<TestNetRack> {
  const id = `${process.pid % 100000}${String.fromCharCode(97 + number++)}`
  const bridge = `fxb${id}`
  const names = Array.from({length: count}, (_, index) => `node-${index + 1}`)
  const space = (node: string): string => `fx${id}-${node}`
  const servers: Record<string, TestSshd> = {}
  const outer = (node: string): string => `fx${names.indexOf(node)}v${id}`
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-net-'))
  const inside = (node: string, ...words: string[]): string =>
    execFileSync('ip', ['netns', 'exec', space(node), ...words], {encoding: 'utf8'})
  const stop = async (): Promise<void> => {
    await Promise.all(Object.values(servers).map((one) => one.stop()))
    for (const node of names) {
      endAllIn(space(node))
      spawnSync('ip', ['netns', 'del', space(node)])
    }
    spawnSync('ip', ['link', 'del', bridge])
    await rm(folder, {recursive: true, force: true})
  }
  try {
    ip('link', 'add', bridge, 'type', 'bridge')
    const subnet = takeSubnet(bridge)
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
    const nodes = names.map((node) => ({
      ...(servers[node] as TestSshd).target(node),
      root: `~/${node}`,
      labels: {},
      ...(environments !== undefined && {environments}),
    }))
    return {
      rack: {name: 'net', path: join(folder, 'net.yaml'), nodes, head: {node: names[0] as string, bind: '127.0.0.1'}},
      addresses,
      servers,
      link: (node, state) => ip('link', 'set', outer(node), state),
      inside,
      stop,
      sentBytes: async () => Number(await readFile(`/sys/class/net/${bridge}/statistics/tx_bytes`, 'utf8')),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Whatever a test that failed has left on a node: the namespace is ours, and so is all that runs in it. */
function endAllIn(namespace: string): void {
  for (const pid of spawnSync('ip', ['netns', 'pids', namespace], {encoding: 'utf8'})
    .stdout.split('\n')
    .filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

/**
 * Gives a bridge the first address of a subnet that no other one has; two tests that look at once do so one after the
 * other. 198.18.0.0/15 is for tests of networks (RFC 2544); no machine has it as its own.
 */
function takeSubnet(bridge: string): string {
  const script =
    'for n in $(seq 0 255); do case "$(ip -o -4 addr)" in *" 198.18.$n."*) ;; *) ip addr add "198.18.$n.254/24" dev "$0" && echo "198.18.$n"; exit;; esac; done; echo "no subnet is free" >&2; exit 1'
  return execFileSync('flock', [join(tmpdir(), 'flexrack-test-subnets.lock'), 'sh', '-c', script, bridge], {
    encoding: 'utf8',
  }).trim()
}

function ip(...words: string[]): void {
  execFileSync('ip', words)
}

import {randomBytes} from 'node:crypto'
import {createInterface} from 'node:readline'
import {CliError, type Context, isLoopback} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import {executePlan, throwIfFailed} from '../plan/index.ts'
import type {RackNode} from '../rack/index.ts'
import {quote, type Fleet, type RemoteProcess} from '../ssh/index.ts'
import {runBench} from './bench-program.ts'
import {forNode, loadNative, nativePath, type NativeFile} from './native.ts'
import {isWildcard, type Route} from './reach.ts'
import {PLACE_HANDLERS, placeSteps} from './place-files.ts'

/** What TCP alone does on the way to a GPU daemon: nothing that goes this way can do better. */
export interface LinkFigures {
  /** loopback: both are one machine; address: straight to the daemon's; tunnel: through SSH. */
  way: 'loopback' | 'address' | 'tunnel'
  roundTripUs: number
  /** 10^9 bytes a second to the node. */
  toGBps: number
  /** The same from it. */
  fromGBps: number
}

export interface LinkEnds {
  node: RackNode
  route: Route
  /** Where the daemon listens. */
  bound: string
}

/**
 * Measures the link that a route takes: with a process of its own at the other end, for the one who has its key, on the
 * address where the daemon listens, and ended afterwards. Errors: GPU_FAILED where nothing gets through, those of
 * nodes, INTERRUPTED.
 */
export async function measureLink(
  fleet: Fleet,
  {node, route, bound}: LinkEnds,
  context: Context,
): Promise<LinkFigures> {
  const program = nativePath('flexrack-bench', context.env)
  if (route.way === 'shared-memory') return figures('loopback', await runBench(program, {words: ['loopback']}, context))
  const host = await openHost(fleet, node, context)
  const key = randomBytes(32).toString('hex')
  const address = isWildcard(bound) ? '0.0.0.0' : bound
  const {process, port} = await startEnd(host, await placeBench(host, context), address, key)
  try {
    if (route.way === 'address')
      return figures(
        isLoopback(route.address) ? 'loopback' : 'address',
        await runBench(program, {words: ['connect', route.address, String(port)], input: `${key}\n`}, context),
      )
    const forward = await host.shell.forwardLocal({
      targetHost: isWildcard(bound) || isLoopback(bound) ? '127.0.0.1' : bound,
      targetPort: port,
    })
    try {
      return figures(
        'tunnel',
        await runBench(program, {words: ['connect', '127.0.0.1', String(forward.port)], input: `${key}\n`}, context),
      )
    } finally {
      await forward.close()
    }
  } finally {
    process.stdin.end()
    process.kill()
    await process.exit.catch(() => {})
  }
}

function figures(way: LinkFigures['way'], answer: Record<string, number | string>): LinkFigures {
  return {
    way,
    roundTripUs: Number(answer.rtt_us),
    toGBps: Number(answer.stream_GBps),
    fromGBps: Number(answer.stream_from_GBps),
  }
}

/** Puts flexrack-bench on the node, if it is not there; its path. */
async function placeBench(host: Host, context: Context): Promise<string> {
  const files = await loadNative('flexrack-bench', context.env)
  const found = await host.call('gpu.inspect', {programs: files.map(({name}) => name)}, {signal: context.signal})
  const [file] = forNode([files], host.node, found) as [NativeFile]
  const plan = {command: 'gpu bench', steps: placeSteps(host.node, found.placed, [file])}
  throwIfFailed(await executePlan(plan, PLACE_HANDLERS, {host: () => host, context}, context))
  return `${found.folder}/program/${file.name}`
}

/** The other end: it goes when its standard input ends, which it does with the connection at the latest. */
async function startEnd(
  host: Host,
  path: string,
  address: string,
  key: string,
): Promise<{process: RemoteProcess; port: number}> {
  const process = await host.shell.spawn(`exec ${quote([path, 'serve', address])}`)
  process.stdin.on('error', () => {})
  process.stdin.write(`${key}\n`)
  let complaint = ''
  process.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  for await (const line of createInterface({input: process.stdout}))
    return {process, port: Number((JSON.parse(line) as {port: number}).port)}
  throw new CliError(
    'GPU_FAILED',
    `the other end of the link does not start on ${host.node}${complaint ? `: ${complaint.trim().split('\n').at(-1)}` : ''}`,
    {details: {node: host.node}},
  )
}

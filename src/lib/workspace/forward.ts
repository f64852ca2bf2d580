import {CliError, isCliError, type Context} from '../base/index.ts'
import type {Forward, NodeShell} from '../ssh/index.ts'

/** A port of the node that is to be reached here, or a unix socket there, by its absolute path. */
export type Wanted = {
  /** Port on this machine; undefined: one is chosen, and kept. */
  localPort?: number
} & ({remotePort: number} | {remoteSocket: string})

/** What happens to the forwards of a node. */
export type ForwardEvent =
  | {event: 'open'; node: string; localPort: number; remotePort: number}
  | {event: 'open'; node: string; localPort: number; remoteSocket: string}
  | {event: 'lost'; node: string}
  | {event: 'retry'; node: string; seconds: number; reason: string}
  | {event: 'back'; node: string; gapSeconds: number}

const FIRST_WAIT_SECONDS = 0.5
const LONGEST_WAIT_SECONDS = 15

/**
 * Keeps ports of a node reachable here until ctx.signal is aborted; after a lost connection at the same local ports
 * again, with growing pauses between the attempts. `connect` gives a living shell. Errors: CONFLICT for a local port
 * that is taken, and those of the first connection; later ones are tried again, except a changed host key or a refused
 * login.
 */
export async function keepForwards(
  connect: () => Promise<NodeShell>,
  wanted: Wanted[],
  onEvent: (event: ForwardEvent) => void,
  context: Context,
): Promise<void> {
  const ports = wanted.map((one) => ({...one}))
  let shell = await connect()
  let forwards = await openAll(shell, ports)
  for (const [index, one] of ports.entries()) {
    const open = {event: 'open' as const, node: shell.node, localPort: forwards[index]?.port as number}
    onEvent('remoteSocket' in one ? {...open, remoteSocket: one.remoteSocket} : {...open, remotePort: one.remotePort})
  }
  const stopped = whenAborted(context.signal)
  while (!context.signal.aborted) {
    await Promise.race([shell.closed, stopped])
    await Promise.all(forwards.map((one) => one.close()))
    if (context.signal.aborted) return
    const since = Date.now()
    onEvent({event: 'lost', node: shell.node})
    const again = await reopen(connect, ports, shell.node, onEvent, context)
    if (!again) return
    ;({shell, forwards} = again)
    onEvent({event: 'back', node: shell.node, gapSeconds: Math.round((Date.now() - since) / 100) / 10})
  }
}

async function reopen(
  connect: () => Promise<NodeShell>,
  ports: Wanted[],
  node: string,
  onEvent: (event: ForwardEvent) => void,
  context: Context,
): Promise<{shell: NodeShell; forwards: Forward[]} | undefined> {
  for (let seconds = FIRST_WAIT_SECONDS; ; seconds = Math.min(seconds * 2, LONGEST_WAIT_SECONDS)) {
    try {
      const shell = await connect()
      return {shell, forwards: await openAll(shell, ports)}
    } catch (error) {
      if (context.signal.aborted) return undefined
      if (!isCliError(error, 'NODE_UNREACHABLE', 'CONFLICT', 'TIMED_OUT')) throw error
      onEvent({event: 'retry', node, seconds, reason: error.message})
    }
    await pause(seconds, context.signal)
    if (context.signal.aborted) return undefined
  }
}

/** All or none. A port that was chosen is written back, so that it is the same the next time. */
async function openAll(shell: NodeShell, ports: Wanted[]): Promise<Forward[]> {
  const open: Forward[] = []
  try {
    for (const one of ports) {
      const forward = await openOne(shell, one)
      open.push(forward)
      one.localPort = forward.port
    }
    return open
  } catch (error) {
    await Promise.all(open.map((forward) => forward.close()))
    throw error
  }
}

async function openOne(shell: NodeShell, one: Wanted): Promise<Forward> {
  try {
    return await shell.forwardLocal({
      port: one.localPort ?? 0,
      ...('remoteSocket' in one ? {targetSocket: one.remoteSocket} : {targetPort: one.remotePort}),
    })
  } catch (error) {
    if (!isCliError(error, 'CONFLICT') || 'remoteSocket' in one) throw error
    throw new CliError('CONFLICT', error.message, {
      hint: `flexrack workspace forward 0:${one.remotePort}`,
      details: error.details,
      cause: error,
    })
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), {once: true})
  })
}

async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    new Promise<void>((resolve) => (timer = setTimeout(resolve, seconds * 1000))),
    whenAborted(signal),
  ])
  clearTimeout(timer)
}

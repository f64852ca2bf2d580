import {randomBytes} from 'node:crypto'
import type {ClientChannel} from 'ssh2'
import {CliError} from '../base/index.ts'
import {bootCommand, bootLine} from './bootstrap.ts'
import {ChannelInput, ChannelOutput} from './channel-streams.ts'
import type {Connection} from './connection.ts'
import {quote} from './quote.ts'
import type {RemoteProcess, SpawnOptions} from './types.ts'

/** Milliseconds between TERM and KILL when a script is aborted. */
const KILL_AFTER_MS = 3000
/** Milliseconds to wait for a second session. */
const ROOM_MS = 1000

type Ending = {status: number | null; signal: string | null}

/** Starts a script on a channel of its own; resolves when it really runs (its start-up noise is over). */
export async function startProcess(
  connection: Connection,
  script: string,
  options: SpawnOptions = {},
): Promise<RemoteProcess> {
  const nonce = `flexrack-${randomBytes(9).toString('hex')}`
  const line = bootLine(script, options.env)
  const channel = await connection.openSession(bootCommand(nonce), {}, options.signal)
  channel.on('error', () => {}) // told by exit

  const stdout = new ChannelOutput(channel, nonce)
  const stderr = new ChannelOutput(channel.stderr, nonce)
  const stdin = new ChannelInput(channel)
  const exit = whenEnded(connection, channel)
  exit.catch(() => {}) // a caller may only want the streams
  const off = connection.onLost((error) => {
    stdout.cut(error)
    stderr.cut(error)
    stdin.cut(error)
  })
  channel.once('close', () => {
    off()
    stdin.cut(brokenPipe())
  })
  void exit.then(() => stdin.cut(brokenPipe())).catch(() => {})
  stdin.write(line + (options.first ?? ''))

  let pid: string | undefined
  const kill = (signal = 'TERM'): Promise<void> => deliver(connection, channel, pid, signal)
  let hard: NodeJS.Timeout | undefined
  const abort = (): void => {
    void kill('TERM')
    hard = setTimeout(() => void kill('KILL'), KILL_AFTER_MS)
    connection.awaitEnd({exit, kill: () => kill('KILL')})
  }
  options.signal?.addEventListener('abort', abort, {once: true})
  if (options.signal?.aborted) abort()
  void exit
    .finally(() => {
      clearTimeout(hard)
      options.signal?.removeEventListener('abort', abort)
    })
    .catch(() => {})

  pid = await stdout.started
  if (pid === undefined || (await stderr.started) === undefined) {
    if (connection.lost) throw connection.lost
    throw await refusal(connection.node, stdout, stderr, exit)
  }
  if (options.signal?.aborted) void kill('TERM') // before, there was no process to name
  return {stdin, stdout, stderr, exit, kill: (signal) => void kill(signal)}
}

/** How a channel's command ended. Rejects with NODE_UNREACHABLE when the connection was lost before that was known. */
export function whenEnded(connection: Connection, channel: ClientChannel): Promise<Ending> {
  return new Promise<Ending>((resolve, reject) => {
    const off = connection.onLost(reject)
    channel.once('exit', (status: number | null, signal?: string) => {
      off()
      resolve({status, signal: signal === undefined ? null : signal.replace(/^SIG/, '')})
    })
    channel.once('close', () => {
      off()
      reject(
        new CliError('NODE_UNREACHABLE', `${connection.node} ended the command without saying how`, {
          details: {node: connection.node},
        }),
      )
    })
  })
}

/**
 * Signals the whole process group of a command (each leads a session of its own). sshd's signal request would do, but
 * it refuses where the user is root, so `kill` in a second session comes first, and the request only where there is no
 * room for one.
 */
async function deliver(
  connection: Connection,
  channel: ClientChannel,
  pid: string | undefined,
  signal: string,
): Promise<void> {
  if (connection.lost) return
  const ask = (): void => {
    if (!connection.lost) requestSignal(channel, signal)
  }
  if (pid === undefined) return ask()
  const script = `kill -s ${quote([signal])} -- -${pid} 2>/dev/null || kill -s ${quote([signal])} ${pid} 2>/dev/null`
  try {
    const killing = await startProcess(connection, script, {signal: AbortSignal.timeout(ROOM_MS)})
    killing.stdin.end()
    killing.stdout.resume()
    killing.stderr.resume()
    await killing.exit
  } catch {
    ask()
  }
}

/**
 * channel.signal() says nothing once stdin was ended, though RFC 4254 allows a request after EOF; so one level deeper.
 */
function requestSignal(channel: ClientChannel, signal: string): void {
  const inside = channel as unknown as {
    outgoing: {id: number; state: string}
    _client: {_protocol: {signal(id: number, name: string): void}}
  }
  if (inside.outgoing.state === 'open' || inside.outgoing.state === 'eof')
    inside._client._protocol.signal(inside.outgoing.id, signal)
}

async function refusal(
  node: string,
  stdout: ChannelOutput,
  stderr: ChannelOutput,
  exit: Promise<Ending>,
): Promise<CliError> {
  const ending = await exit.catch(() => ({status: null, signal: null}))
  const said = `${stdout.noise}\n${stderr.noise}`.trim().split('\n').slice(-5).join('\n')
  return new CliError('NODE_UNFIT', `the login shell on ${node} did not run the command`, {
    details: {node, status: ending.status, signal: ending.signal, output: said},
    hint: `ssh to ${node} and see that \`sh -c true\` works there, and that no start-up file of the shell exits`,
  })
}

function brokenPipe(): Error {
  return Object.assign(new Error('the process does not read any more'), {code: 'EPIPE'})
}

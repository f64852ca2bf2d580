import {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {CliError} from '../base/index.ts'
import type {Connection} from './connection.ts'
import {startProcess} from './process.ts'
import type {ExecOptions, ExecResult, RemoteProcess} from './types.ts'

/** Milliseconds in which a script whose input broke must have ended by TERM. */
const END_WITHIN_MS = 3000

/** Runs a script to its end; see NodeShell.exec. */
export async function execScript(
  connection: Connection,
  script: string,
  options: ExecOptions = {},
): Promise<ExecResult> {
  // It may break before the process is there to read from it.
  if (options.input instanceof Readable) options.input.on('error', () => {})
  const limit = new AbortController()
  const timer = options.timeout === undefined ? undefined : setTimeout(() => limit.abort(), options.timeout)
  const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal
  try {
    return await untilAborted(signal, async () =>
      collect(await startProcess(connection, script, {signal, ...(options.env ? {env: options.env} : {})}), options),
    )
  } catch (error) {
    if (connection.lost) throw connection.lost
    if (options.signal?.aborted)
      throw new CliError('INTERRUPTED', `interrupted on ${connection.node}`, {details: {node: connection.node}})
    if (limit.signal.aborted) {
      throw new CliError(
        'TIMED_OUT',
        `a command on ${connection.node} took longer than ${(options.timeout as number) / 1000} s and was stopped`,
        {details: {node: connection.node, timeout: options.timeout}},
      )
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Runs a script to its end and wants success; see NodeShell.run. */
export async function runScript(connection: Connection, script: string, options: ExecOptions = {}): Promise<string> {
  const result = await execScript(connection, script, options)
  if (result.status === 0) return result.stdout
  const how = result.signal ? `was ended by signal ${result.signal}` : `ended with status ${result.status}`
  const last = result.stderr.trimEnd().split('\n').slice(-20).join('\n')
  throw new CliError('REMOTE_FAILED', `a command on ${connection.node} ${how}`, {
    details: {node: connection.node, status: result.status, signal: result.signal, stderr: last},
  })
}

async function collect(process: RemoteProcess, options: ExecOptions): Promise<ExecResult> {
  const [stdout, stderr, ending] = await Promise.all([
    gather(process.stdout, options.onStdout),
    gather(process.stderr, options.onStderr),
    process.exit,
    feed(process, options.input),
  ])
  return {...ending, stdout, stderr}
}

async function gather(stream: Readable, onChunk: ((chunk: Buffer) => void) | undefined): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    onChunk?.(chunk)
  }
  return Buffer.concat(chunks).toString()
}

async function feed(process: RemoteProcess, input: ExecOptions['input']): Promise<void> {
  if (!(input instanceof Readable)) {
    process.stdin.end(input)
    return
  }
  try {
    await pipeline(input, process.stdin)
  } catch {
    // That the process stopped reading is its own business; its status tells. A source that broke is the caller's.
    if (input.errored === null || (input.errored as {code?: string}).code === 'EPIPE') return
    endSurely(process)
    throw input.errored
  }
}

/**
 * TERM again and again, then KILL: a shell that has just forked takes one TERM for the command it is about to start and
 * waits for it, and that command then waits for input that never comes. So one signal is not enough; a repeated one
 * lets the script tidy up.
 */
function endSurely(process: RemoteProcess): void {
  process.kill()
  const begin = Date.now()
  const again = setInterval(() => process.kill(Date.now() - begin > END_WITHIN_MS ? 'KILL' : 'TERM'), 250)
  void process.exit.finally(() => clearInterval(again)).catch(() => {})
}

/**
 * The work, or a rejection as soon as the signal is aborted (what is left of the work ends by itself: the process gets
 * a signal).
 */
function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(new CliError('INTERRUPTED', 'interrupted'))
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, {once: true})
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}

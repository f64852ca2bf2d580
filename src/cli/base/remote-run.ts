import {createInterface} from 'node:readline'
import type {Readable} from 'node:stream'
import {CliError, type Context} from '../../lib/base/index.ts'
import type {ExecResult, NodeShell, RemoteProcess} from '../../lib/ssh/index.ts'

export interface RemoteCommand {
  script: string
  env: Record<string, string>
}

type Ending = {status: number | null; signal: string | null}

/**
 * Runs a command on one node with this process's stdin, stdout and stderr. Ctrl-C reaches it as SIGINT, a second one as
 * SIGKILL.
 */
export async function runAttached(shell: NodeShell, command: RemoteCommand, context: Context): Promise<Ending> {
  const remote = await shell.spawn(command.script, {env: command.env})
  const release = passSignals(remote, context)
  remote.stdin.on('error', () => {}) // it does not read any more: its own business
  process.stdin.pipe(remote.stdin)
  try {
    const [ending] = await Promise.all([
      remote.exit,
      drain(remote.stdout, process.stdout),
      drain(remote.stderr, process.stderr),
    ])
    return ending
  } finally {
    release()
    process.stdin.unpipe()
    process.stdin.destroy() // else an open stdin keeps this process alive
  }
}

/** Runs a command and keeps what it says, for --json. Lines are also told one by one where wanted. */
export async function runCaptured(
  shell: NodeShell,
  command: RemoteCommand,
  context: Context,
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void,
): Promise<ExecResult> {
  const remote = await shell.spawn(command.script, {env: command.env})
  const release = passSignals(remote, context)
  remote.stdin.end()
  try {
    const [ending, stdout, stderr] = await Promise.all([
      remote.exit,
      collect(remote.stdout, onLine && ((line) => onLine(line, 'stdout'))),
      collect(remote.stderr, onLine && ((line) => onLine(line, 'stderr'))),
    ])
    return {...ending, stdout, stderr}
  } finally {
    release()
  }
}

/** The exit status a shell would give: 128 and the number of the signal that ended it. */
export async function exitStatus({status, signal}: Ending): Promise<number> {
  if (status !== null) return status
  const {constants} = await import('node:os')
  return 128 + ((constants.signals as Record<string, number>)[`SIG${signal}`] ?? 0)
}

/**
 * Throws SOME_NODES_FAILED, or REMOTE_FAILED where it failed everywhere; the exit status is kept where there is only
 * one.
 */
export function throwIfStatus(
  results: readonly {node: string; status: number | null; signal: string | null}[],
  words: string[],
): void {
  const bad = results.filter((one) => one.status !== 0)
  if (bad.length === 0) return
  const nodes = results.map(({node, status, signal}) => ({
    node,
    ok: status === 0,
    ...(status !== 0 && {message: signal ? `ended by SIG${signal}` : `exit status ${status}`}),
  }))
  throw new CliError(
    bad.length < results.length ? 'SOME_NODES_FAILED' : 'REMOTE_FAILED',
    `${words[0]} failed on ${bad.map((one) => one.node).join(', ')}`,
    {details: {nodes}},
  )
}

function passSignals(remote: RemoteProcess, context: Context): () => void {
  const first = (): void => remote.kill('INT')
  const second = (): void => remote.kill('KILL')
  if (context.signal.aborted) first()
  context.signal.addEventListener('abort', first, {once: true})
  context.kill.addEventListener('abort', second, {once: true})
  return () => {
    context.signal.removeEventListener('abort', first)
    context.kill.removeEventListener('abort', second)
  }
}

/** Passes everything on at the pace of the reader; the end of one stream does not close ours. */
async function drain(from: Readable, to: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    from.once('end', resolve).once('error', reject)
    from.pipe(to, {end: false})
  })
}

async function collect(stream: Readable, onLine: ((line: string) => void) | undefined): Promise<string> {
  if (onLine) createInterface({input: stream, crlfDelay: Infinity}).on('line', onLine)
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise<void>((resolve, reject) => stream.once('end', resolve).once('error', reject))
  return Buffer.concat(chunks).toString()
}

import {spawn, type ChildProcess} from 'node:child_process'
import {createInterface} from 'node:readline'
import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'

/** What flexrack-bench answers: each line a JSON object, together one. */
export type BenchAnswer = Record<string, number | string>

export interface BenchRun {
  words: string[]
  env?: Record<string, string>
  /** Its standard input, a key. */
  input?: string
  /** Called with what is known so far, after each line. */
  heard?: (answer: BenchAnswer) => void
}

/** Runs flexrack-bench here. Errors: GPU_FAILED with what it complained of, INTERRUPTED. */
export async function runBench(
  program: string,
  {words, env, input, heard}: BenchRun,
  context: Context,
): Promise<BenchAnswer> {
  throwIfInterrupted(context.signal)
  const child = spawn(program, words, {
    env: {...context.env, ...env},
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: context.signal,
  })
  child.stdin.on('error', () => {}) // it may have ended without reading
  child.stdin.end(input)
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-4000)))
  const ended = endOf(child)
  const answer: BenchAnswer = {}
  for await (const line of createInterface({input: child.stdout})) {
    Object.assign(answer, JSON.parse(line))
    heard?.(answer)
  }
  const status = await ended
  throwIfInterrupted(context.signal)
  if (status !== 0)
    throw new CliError('GPU_FAILED', complaint.trim().split('\n').at(-1) || `flexrack-bench ended with ${status}`)
  return answer
}

/**
 * Holds leases while `use` runs: `prefix` is what attachGpus gave. Errors: GPU_FAILED where they are lost meanwhile,
 * and those of `use`.
 */
export async function whileHeld<T>(
  prefix: string[],
  env: Record<string, string>,
  context: Context,
  use: (held: Context) => Promise<T>,
): Promise<T> {
  const [program, ...own] = prefix as [string, ...string[]]
  const words = [...own, 'sh', '-c', 'echo held; exec cat']
  // A group of its own: Ctrl-C is for us, who end it when all is given back.
  const child = spawn(program, words, {env: {...context.env, ...env}, stdio: ['pipe', 'pipe', 'pipe'], detached: true})
  child.stdin.on('error', () => {})
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const over = new AbortController()
  const ended = endOf(child).then(() => over.abort())
  const lost = (): CliError =>
    new CliError('GPU_FAILED', complaint.trim().split('\n').at(-1) || 'the lease has ended before all was measured', {
      hint: 'flexrack gpu leases',
    })
  try {
    await Promise.race([new Promise((held) => child.stdout.once('data', held)), ended])
    if (over.signal.aborted) throw lost()
    return await use({...context, signal: AbortSignal.any([context.signal, over.signal])})
  } catch (error) {
    throwIfInterrupted(context.signal)
    throw over.signal.aborted ? lost() : error
  } finally {
    child.stdin.end()
    await ended
  }
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'nothing'))
  })
}

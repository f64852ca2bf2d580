import {spawn} from 'node:child_process'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {CliError, type Context} from '../base/index.ts'
import {programFolder} from './program.ts'

export interface WheelsWanted {
  /** Gets the files. */
  folder: string
  /** As in the names of wheels: x86_64, aarch64. */
  machine: string
  /** Version, 3.11. */
  python: string
  /** Pins with hashes. */
  lock: string
}

/** The wheels that a node would install, by this machine's pip. Errors: REMOTE_FAILED, INTERRUPTED. */
export async function fetchWheels(
  {folder, machine, python, lock}: WheelsWanted,
  context: Context,
  onLine: (line: string) => void,
): Promise<void> {
  await runFetcher('fetch_wheels.py', [folder, machine, python], lock, context, onLine)
}

/** One of the node program's own programs, run here, with a lock file on its stdin. */
export async function runFetcher(
  program: string,
  words: string[],
  lock: string,
  {env, signal}: Context,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const child = spawn('python3', [join(programFolder(import.meta.dirname), 'workspace', program), ...words], {
    env,
    signal,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)))
  createInterface({input: child.stdout}).on('line', onLine)
  child.stdin.on('error', () => {}) // it ended early; its status tells
  child.stdin.end(lock)
  const status = await new Promise<number | string>((done) => {
    child.on('error', (error) => done(error.message))
    child.on('close', (code) => done(code ?? 'a signal'))
  })
  if (signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
  const last = said
    .trim()
    .split('\n')
    .at(-1)
    ?.replaceAll(/(:\/\/)[^/\s@]+@/g, '$1[redacted]@')
  if (status !== 0) throw new CliError('REMOTE_FAILED', `this machine could not fetch it (${last || status})`)
}

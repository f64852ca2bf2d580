import {spawn, type ChildProcess} from 'node:child_process'
import {closeSync, openSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join, resolve} from 'node:path'

export const root = resolve(import.meta.dirname, '..', '..')

/** A program of node_modules. */
export const bin = (name: string): string => join(root, 'node_modules', '.bin', name)

export interface RunOptions {
  /** stdout is returned instead of shown. */
  capture?: boolean
  /** Else the checkout. */
  folder?: string
  isShown?: boolean
  env?: Record<string, string>
  /** As nice(1) takes it: more of it leaves more to others. */
  niceness?: number
  /** Where what is shown goes, a descriptor, instead of here. */
  output?: number
  /** It gets what is typed. */
  isInteractive?: boolean
}

/** Runs to the end. */
export async function run(
  command: string,
  args: string[],
  {capture = false, folder = root, isShown = true, env, niceness = 0, output, isInteractive = false}: RunOptions = {},
): Promise<{status: number; stdout: string}> {
  const shown = output ?? (isShown ? 'inherit' : 'ignore')
  const [program, words] = niceness > 0 ? ['nice', ['-n', String(niceness), command, ...args]] : [command, args]
  const child = spawn(program, words, {
    cwd: folder,
    stdio: [isInteractive ? 'inherit' : 'ignore', capture ? 'pipe' : shown, shown],
    env: {...process.env, ...env},
  })
  let stdout = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  return {status: await statusOf(child), stdout}
}

/** Of a child that goes when we go. */
export function statusOf(child: ChildProcess): Promise<number> {
  const end = (): boolean => child.kill()
  process.on('exit', end)
  const status = new Promise<number>((done, fail) => child.on('error', fail).on('close', (code) => done(code ?? 1)))
  return status.finally(() => process.off('exit', end))
}

/** Runs what writes to a descriptor, and shows that when it is over: nobody else's words are between it. */
export async function shownAfter<T>(log: string, work: (output: number) => Promise<T>): Promise<T> {
  const file = openSync(log, 'w')
  try {
    return await work(file)
  } finally {
    closeSync(file)
    console.error(await readFile(log, 'utf8'))
  }
}

import {execFileSync, spawn, type ChildProcess} from 'node:child_process'
import {join, resolve} from 'node:path'
import {recorded} from './recording.ts'

const root = resolve(import.meta.dirname, '../..')

export interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** The Node to use; this one by default. */
  node?: string
  nodeArguments?: string[]
  /** Called with everything so far whenever something comes. */
  onOutput?: (output: {stdout: string; stderr: string}, child: ChildProcess) => void
}

/** Makes bin/run.js current. */
export function buildProgram(): void {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], {stdio: ['ignore', 'ignore', 'inherit']})
}

/** The built program, as users have it. stdin is empty and nothing is a terminal. */
export function flexrack(args: string[], options: RunOptions = {}): Promise<Ended> {
  return run([join(root, 'bin/run.js'), ...args], options)
}

/** The commands of test/fixtures/program, from source. */
export function fixture(args: string[], options: RunOptions = {}): Promise<Ended> {
  return run([fixtureFile, ...args], options)
}

export const fixtureFile = join(root, 'test/fixtures/program/run.js')

/** A shell line in which $FLEXRACK is the built program and $FIXTURE the fixture's. */
export function shell(line: string, options: RunOptions = {}): Promise<Ended> {
  const env = {
    FLEXRACK: `${process.execPath} ${join(root, 'bin/run.js')}`,
    FIXTURE: `${process.execPath} ${fixtureFile}`,
    ...options.env,
  }
  return start('bash', ['-o', 'pipefail', '-c', line], {...options, env})
}

/**
 * The same on a terminal of 80 columns. `dialogue`: when the first text appears, the second is typed, and so on.
 * What is on stdout and stderr comes back as one, with its escape sequences.
 */
export async function terminal(
  args: string[],
  dialogue: [expect: string, type: string][] = [],
  options: RunOptions = {},
): Promise<Ended> {
  const driver = join(root, 'test/support/terminal.py')
  return start('python3', [driver, JSON.stringify(dialogue), process.execPath, ...args], options)
}

function run(args: string[], options: RunOptions): Promise<Ended> {
  return start(options.node ?? process.execPath, [...(options.nodeArguments ?? []), ...args], options)
}

function start(command: string, args: string[], {env, cwd, onOutput}: RunOptions): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env: {...cleanEnvironment(), ...recorded(), ...env},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = {stdout: '', stderr: ''}
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      output[name] += chunk.toString()
      onOutput?.(output, child)
    })
  }
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (status, signal) => done({status, signal, ...output}))
  })
}

/** Nothing of the test runner's, or of the user's flexrack, reaches the program. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const dropped = /^(VITEST|NODE_ENV$|NODE_OPTIONS$|FLEXRACK_|CI$|NO_COLOR$|FORCE_COLOR$|DEBUG$|TEST$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !dropped.test(name)))
}

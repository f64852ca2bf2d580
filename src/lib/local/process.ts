import {spawn, type ChildProcess} from 'node:child_process'
import {closeSync} from 'node:fs'
import {mkdir} from 'node:fs/promises'
import {basename, join} from 'node:path'
import type {Duplex, Readable, Writable} from 'node:stream'
import {ownRoot} from '../base/index.ts'
import type {PipePool} from './pipes.ts'

export interface TerminalSize {
  rows: number
  columns: number
}

/** A process on a node, in a session and process group of its own. */
export interface NodeProcess {
  pid: number
  terminal: boolean
  stdin: Writable
  stdout: Readable
  stderr: Readable | undefined
  exit: Promise<{status: number | null; signal: string | null}>
  resize(size: TerminalSize): void
  /** Delivers a signal (name without SIG) to the process group. */
  signal(name: string): void
  /** The channel is gone: a terminal hangs up, anything else only loses its streams and goes on, as with sshd. */
  hangUp(): void
}

interface StartSettings {
  home: string
  shell: string
  env: Record<string, string>
}

/** Runs a command (null: the login shell) with separate streams. */
export async function startProcess(
  command: string | null,
  settings: StartSettings & {pipes: PipePool},
): Promise<NodeProcess> {
  const {shell, home, env, pipes} = settings
  const all = await Promise.all([pipes.open('read'), pipes.open('write'), pipes.open('write')])
  const [stdin, stdout, stderr] = [all[0].ours, all[1].ours, all[2].ours]
  let child: Started
  try {
    child = await started(settings, () =>
      spawn(shell, command === null ? [] : ['-c', command], {
        argv0: command === null ? `-${basename(shell)}` : basename(shell),
        cwd: home,
        env,
        detached: true,
        stdio: all.map((pipe) => pipe.childEnd) as [number, number, number],
      }),
    )
  } catch (error) {
    for (const {ours} of all) ours.destroy()
    throw error
  } finally {
    for (const {childEnd} of all) closeSync(childEnd)
  }
  return {
    pid: child.pid,
    terminal: false,
    stdin,
    stdout,
    stderr,
    exit: new Promise((resolve) =>
      child.once('exit', (status, signal) => resolve({status, signal: signal?.slice(3) ?? null})),
    ),
    resize() {},
    signal: (name) => signalGroup(child, name),
    hangUp() {
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
    },
  }
}

/** Runs a command (null: the login shell) on a pty, by way of a small Python bridge: Node itself cannot make one. */
export async function startTerminal(
  command: string | null,
  settings: StartSettings & {python: string | undefined; size: TerminalSize},
): Promise<NodeProcess> {
  const {shell, size} = settings
  const words = command === null ? [`-${basename(shell)}`] : [basename(shell), '-c', command]
  const child = await started(settings, () =>
    spawn(
      settings.python ?? 'python3',
      ['-I', '-S', join(ownRoot(), 'node/local_pty.py'), String(size.rows), String(size.columns), shell, ...words],
      {
        cwd: settings.home,
        env: settings.env,
        detached: true,
        stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
      },
    ),
  )
  const control = child.stdio[3] as Duplex
  let said = ''
  control.on('data', (chunk: Buffer) => (said += chunk.toString()))
  control.on('error', () => {})
  return {
    pid: child.pid,
    terminal: true,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: undefined,
    exit: new Promise((resolve) => child.once('close', () => resolve(bridgeExit(said)))),
    resize: ({rows, columns}) => void control.write(`size ${rows} ${columns}\n`),
    signal: (name) => void (/^[A-Z0-9]+$/.test(name) && control.write(`signal ${name}\n`)),
    hangUp() {
      control.destroy()
      child.stdin.destroy()
      child.stdout.destroy()
    },
  }
}

type Started = ChildProcess & {pid: number; stdin: Writable; stdout: Readable; stderr: Readable}

async function started(settings: StartSettings, start: () => ChildProcess): Promise<Started> {
  await mkdir(settings.home, {recursive: true, mode: 0o700})
  const child = start()
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.on('error', () => {})
  return child as Started
}

function signalGroup(child: Started, name: string): void {
  try {
    process.kill(-child.pid, `SIG${name}` as NodeJS.Signals)
  } catch {
    // gone already, or a signal this system does not have
  }
}

/** The bridge's last word: `exit 3` or `signal TERM`; without one it was itself killed. */
function bridgeExit(said: string): {status: number | null; signal: string | null} {
  const [, kind, value] = /^(exit|signal) (\w+)\n/m.exec(said) ?? []
  if (kind === 'exit') return {status: Number(value), signal: null}
  return {status: null, signal: value ?? 'KILL'}
}

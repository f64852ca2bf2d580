import {execFileSync, spawn, type ChildProcess} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {openGpus, type GpuReport, type Gpus} from '../../src/lib/gpu/index.ts'
import {editRack, loadRack, type GpuSpec} from '../../src/lib/rack/index.ts'
import {startLocalRack, type TestLocalRack} from './local-rack.ts'
import {flexrack as program, type Ended} from './program.ts'
import {recorded} from './recording.ts'

const root = resolve(import.meta.dirname, '../..')

export interface GpuRack {
  rack: TestLocalRack
  gpus: Gpus
  /** For commands that are to use this rack. */
  env: NodeJS.ProcessEnv
  flexrack(...args: string[]): Promise<Ended>
  /** `attach` as a process that goes on; ended by stop() at the latest. */
  attach(...args: string[]): Attaching
  read(): Promise<GpuReport>
  /** Looks until it is so; fails with what was there instead. */
  until(what: string, is: (report: GpuReport) => boolean): Promise<GpuReport>
  /** Nobody has anything, and no memory is allocated. */
  untilFree(): Promise<GpuReport>
  stop(): Promise<void>
}

export interface Attaching {
  child: ChildProcess
  output: {stdout: string; stderr: string}
  /** Resolves when the text has come on stdout; rejects if it ends before. */
  says(text: string): Promise<void>
  ended: Promise<Ended>
}

/** A local rack whose nodes share the CPU as OpenCL devices (PoCL): really leased, really used. */
export async function startGpuRack({
  nodes,
  devices,
  gpu = {},
  serve = true,
  environments,
}: {
  nodes: number
  devices: number
  gpu?: Partial<GpuSpec>
  serve?: boolean
  environments?: string
}): Promise<GpuRack> {
  const rack = await startLocalRack({nodes, ...(environments && {environments})})
  // FLEXRACK_NATIVE: the tests of another build, with sanitizers for example.
  const env = {
    FLEXRACK_HOME: rack.home,
    ...(process.env.FLEXRACK_NATIVE && {FLEXRACK_NATIVE: process.env.FLEXRACK_NATIVE}),
  }
  await editRack(rack.rack.path, (one) => ({
    ...one,
    gpu: {env: {POCL_DEVICES: Array(devices).fill('pthread').join(' ')}, ...gpu},
  }))
  const place = {rack: await loadRack('local', rack.env), fleet: rack.fleet()}
  const gpus = openGpus(place, rack.context())
  const running = new Set<ChildProcess>()
  const read = (): Promise<GpuReport> => gpus.read(place.rack.nodes)
  const until = async (what: string, is: (report: GpuReport) => boolean): Promise<GpuReport> => {
    const end = Date.now() + 240_000
    for (;;) {
      const report = await read()
      if (is(report)) return report
      if (Date.now() > end) throw new Error(`did not happen: ${what}; ${JSON.stringify(report)}`)
      await new Promise((done) => setTimeout(done, 100))
    }
  }
  const stop = async (): Promise<void> => {
    for (const child of running) child.kill('SIGKILL')
    await rack.stop()
  }
  try {
    if (serve) await gpus.serve(place.rack.nodes, {backend: 'opencl'})
  } catch (error) {
    await stop()
    throw error
  }
  return {
    rack,
    gpus,
    env,
    read,
    until,
    stop,
    flexrack: (...args) => program(args, {env}),
    attach: (...args) => attach(args, env, running),
    untilFree: () =>
      until(
        'everything given back',
        ({leases, devices: all}) =>
          leases.length === 0 && all.length > 0 && all.every((one) => one.holders.length === 0 && one.used === 0),
      ),
  }
}

function attach(args: string[], env: NodeJS.ProcessEnv, running: Set<ChildProcess>): Attaching {
  const child = spawn(process.execPath, [join(root, 'bin/run.js'), 'attach', ...args], {
    env: {...process.env, ...recorded(), ...env},
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.add(child)
  const output = {stdout: '', stderr: ''}
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const ended = new Promise<Ended>((done) =>
    child.once('close', (status, signal) => {
      running.delete(child)
      done({status, signal, ...output})
    }),
  )
  const says = (text: string): Promise<void> =>
    new Promise((done, fail) => {
      const look = (): void => void (output.stdout.includes(text) && done())
      child.stdout.on('data', look)
      void ended.then((how) => fail(new Error(`ended before it said ${text}: ${JSON.stringify(how)}`)))
      look()
    })
  return {child, output, says, ended}
}

/** The pid of the daemon on a node. */
export async function brokerOf(shell: {run(script: string): Promise<string>}): Promise<string> {
  return (await shell.run(`sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' ~/.flexrack/gpu/daemon/address.json`)).trim()
}

/** Compiles the program that uses a device: test/fixtures/gpu/occupy.c. Returns its path; removed by `remove`. */
export async function buildOccupy(): Promise<{path: string; remove(): Promise<void>}> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-occupy-'))
  const path = join(folder, 'occupy')
  execFileSync('cc', ['-O1', '-Wall', '-o', path, join(root, 'test/fixtures/gpu/occupy.c'), '-lOpenCL'])
  return {path, remove: () => rm(folder, {recursive: true, force: true})}
}

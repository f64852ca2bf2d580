import {rm} from 'node:fs/promises'
import {setTimeout as wait} from 'node:timers/promises'
import {CliError, count, processIdentity, type Context} from '../base/index.ts'
import {isAlive} from './alive.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import {askDaemon, controlPath} from './control.ts'
import {localLayout, type LocalLayout} from './layout.ts'
import {withLock} from './lock.ts'
import {deliver} from './processes.ts'
import {endRackProcesses, listRackProcesses} from './rack-processes.ts'
import {daemonState, readRack, writeRack} from './rack-state.ts'
import type {LocalRack} from './types.ts'

export interface LocalDownInput {
  /** Also removes homes, keys and environments. */
  purge: boolean
  /** Seconds between SIGTERM and SIGKILL for what runs on the nodes. */
  grace: number
}

export interface LocalDownResult {
  /** Processes that ran on the nodes and were ended. */
  ended: number
  purged: boolean
}

const DAEMON_STOP_MS = 10_000

type DownKinds = {
  'local.stop': {input: {pid: number}; output: void}
  /** `processes`: how many were found; all that are there then are ended. The output: how many these were. */
  'local.end': {input: {processes: number; grace: number}; output: number}
  'local.forget': {input: Record<string, never>; output: void}
  'local.purge': {input: Record<string, never>; output: void}
}

interface DownEnv {
  layout: LocalLayout
  rack: LocalRack
  ctx: Context
}

const HANDLERS: Handlers<DownKinds, DownEnv> = {
  'local.stop': (_input, _done, {layout}) => stopDaemon(layout),
  'local.end': async ({grace}, _done, {layout, rack, ctx}) => {
    const ended = await endWithProgress(layout, rack, grace, ctx)
    await rm(layout.groups, {force: true})
    return ended
  },
  'local.forget': async (_input, _done, {layout, rack}) => {
    await rm(layout.rackFile, {force: true})
    await writeRack(layout, {...rack, up: false})
  },
  'local.purge': (_input, _done, {layout}) => rm(layout.folder, {recursive: true, force: true}),
}

/** What `local down` would do now; no steps where there is nothing to stop. */
export async function planLocalDown(input: LocalDownInput, ctx: Context): Promise<PlanOf<DownKinds>> {
  const layout = localLayout(ctx.env)
  const rack = await readRack(layout)
  const steps: StepOf<DownKinds>[] = []
  const add = (step: Omit<StepOf<DownKinds>, 'id' | 'node' | 'needs'>): void => {
    steps.push({
      ...step,
      id: step.kind.slice('local.'.length),
      node: null,
      needs: steps.slice(-1).map((one) => one.id),
    } as StepOf<DownKinds>)
  }
  if (!rack) return {command: 'local down', steps}
  const [daemon, processes] = await Promise.all([daemonState(layout), listRackProcesses(layout, rack)])
  if (daemon)
    add({
      kind: 'local.stop',
      title: `Stop the background process (pid ${daemon.pid}, ${daemon.nodes.length} nodes)`,
      input: {pid: daemon.pid},
    })
  if (daemon || processes.length > 0)
    add({
      kind: 'local.end',
      title: `End what was started on the nodes (${count(processes.length, 'process', 'processes')} now)`,
      input: {processes: processes.length, grace: input.grace},
    })
  if (rack.up) add({kind: 'local.forget', title: `Remove the rack file ${layout.rackFile}`, input: {}})
  if (input.purge) add({kind: 'local.purge', title: `Remove ${layout.folder}: homes, keys, environments`, input: {}})
  return {command: 'local down', steps}
}

/**
 * Stops the local rack and whatever was started on its nodes; proves that nothing is left. Errors: LOCKED, NODE_UNFIT.
 */
export async function localDown(input: LocalDownInput, ctx: Context): Promise<LocalDownResult> {
  const layout = localLayout(ctx.env)
  if (!(await readRack(layout))) return {ended: 0, purged: false}
  return withLock(layout.lock, ctx, async () => {
    const rack = await readRack(layout)
    if (!rack) return {ended: 0, purged: false}
    const outcomes = await executePlan(await planLocalDown(input, ctx), HANDLERS, {layout, rack, ctx}, ctx)
    throwIfFailed(outcomes)
    return {ended: valuesOf<DownKinds, 'local.end'>(outcomes, 'local.end')[0] ?? 0, purged: input.purge}
  })
}

async function endWithProgress(layout: LocalLayout, rack: LocalRack, grace: number, ctx: Context): Promise<number> {
  const progress = ctx.reporter.begin('Ending what runs on the local nodes')
  try {
    const ended = await endRackProcesses(layout, rack, grace * 1000)
    progress.done(
      ended === 0 ? 'Nothing ran on the local nodes' : `What ran on the local nodes has ended (processes: ${ended})`,
    )
    return ended
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function stopDaemon(layout: LocalLayout): Promise<void> {
  const daemon = await askDaemon(controlPath(layout.folder), {ask: 'stop'})
  if (!daemon) return
  // It answered just now under this pid; while it ends, that may become another's.
  const identity = await processIdentity(daemon.pid)
  const until = Date.now() + DAEMON_STOP_MS
  while (isAlive(daemon.pid) && (await processIdentity(daemon.pid)) === identity) {
    if (Date.now() > until) deliver(daemon.pid, 'SIGKILL')
    if (Date.now() > until + DAEMON_STOP_MS)
      throw new CliError('NODE_UNFIT', `the local rack's process ${daemon.pid} does not end`)
    await wait(20)
  }
}

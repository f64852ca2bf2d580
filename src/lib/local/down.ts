import {rm} from 'node:fs/promises'
import {setTimeout as wait} from 'node:timers/promises'
import {CliError, type Context} from '../base/index.ts'
import {isAlive} from './alive.ts'
import {executePlan, throwIfFailed, type Plan, type Step} from '../plan/index.ts'
import {askDaemon, controlPath} from './control.ts'
import {localLayout, type LocalLayout} from './layout.ts'
import {withLock} from './lock.ts'
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

/** What `local down` would do now; no steps where there is nothing to stop. */
export async function planLocalDown(input: LocalDownInput, ctx: Context): Promise<Plan> {
  const layout = localLayout(ctx.env)
  const rack = await readRack(layout)
  const steps: Step[] = []
  const step = (id: string, title: string, stepInput: Record<string, unknown>): void => {
    steps.push({id, kind: `local.${id}`, node: null, title, input: stepInput, needs: steps.slice(-1).map((one) => one.id)})
  }
  if (!rack) return {command: 'local down', steps}
  const [daemon, processes] = await Promise.all([daemonState(layout), listRackProcesses(layout, rack)])
  if (daemon) step('stop', `Stop the background process (pid ${daemon.pid}, ${daemon.nodes.length} nodes)`, {pid: daemon.pid})
  if (daemon || processes.length > 0) step('end', `End what was started on the nodes (${processes.length} processes now)`, {processes: processes.length, grace: input.grace})
  if (rack.up) step('forget', `Remove the rack file ${layout.rackFile}`, {})
  if (input.purge) step('purge', `Remove ${layout.folder}: homes, keys, environments`, {})
  return {command: 'local down', steps}
}

/** Stops the local rack and whatever was started on its nodes; proves that nothing is left. Errors: LOCKED, NODE_UNFIT. */
export async function localDown(input: LocalDownInput, ctx: Context): Promise<LocalDownResult> {
  const layout = localLayout(ctx.env)
  if (!(await readRack(layout))) return {ended: 0, purged: false}
  return withLock(layout.lock, ctx, async () => {
    const rack = await readRack(layout)
    if (!rack) return {ended: 0, purged: false}
    let ended = 0
    const plan = await planLocalDown(input, ctx)
    const outcomes = await executePlan(plan, {
      'local.stop': () => stopDaemon(layout),
      'local.end': async () => {
        ended = await endWithProgress(layout, rack, input.grace, ctx)
        await rm(layout.groups, {force: true})
      },
      'local.forget': async () => {
        await rm(layout.rackFile, {force: true})
        await writeRack(layout, {...rack, up: false})
      },
      'local.purge': () => rm(layout.folder, {recursive: true, force: true}),
    }, ctx)
    throwIfFailed(outcomes)
    return {ended, purged: input.purge}
  })
}

async function endWithProgress(layout: LocalLayout, rack: LocalRack, grace: number, ctx: Context): Promise<number> {
  const progress = ctx.reporter.begin('Ending what runs on the local nodes')
  try {
    const ended = await endRackProcesses(layout, rack, grace * 1000)
    progress.done(ended === 0 ? 'Nothing ran on the local nodes' : `What ran on the local nodes has ended (processes: ${ended})`)
    return ended
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function stopDaemon(layout: LocalLayout): Promise<void> {
  const daemon = await askDaemon(controlPath(layout.folder), {ask: 'stop'})
  if (!daemon) return
  const until = Date.now() + DAEMON_STOP_MS
  while (isAlive(daemon.pid)) {
    // It answered just now under this pid, so the pid is still its own.
    if (Date.now() > until) process.kill(daemon.pid, 'SIGKILL')
    if (Date.now() > until + DAEMON_STOP_MS) throw new CliError('NODE_UNFIT', `the local rack's process ${daemon.pid} does not end`)
    await wait(20)
  }
}

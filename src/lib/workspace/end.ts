import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Plan, Step, StepHandler} from '../plan/index.ts'
import {ownName} from './sync.ts'

/** What `workspace stop` ended, or `workspace remove` removed, on a node. */
export interface Ended {
  node: string
  project: string
  ended: {pid: number; command: string}[]
  /** Processes that outlived SIGKILL. */
  survived?: number[]
  /** Path of the folder that went; null where there was none. */
  removed?: string | null
  files?: number
  /** Freed, in bytes. */
  bytes?: number
}

/** Python environments that were removed from a node. */
export interface EnvironmentsRemoved {
  node: string
  /** Hashes. */
  removed: string[]
  /** Freed, in bytes. */
  bytes: number
  /** Those that stay, and why: what uses them, what runs from them. */
  kept: {hash: string; users: {user: string}[]; pids: number[]}[]
}

export interface EndInput {
  project: string
  /** Also remove the workspace's folder. */
  remove: boolean
  /** Also remove the Python environments that nothing uses then. */
  environments: boolean
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
}

export type EndPlan = {plan: Plan; handlers: Record<string, StepHandler>}

const ENVIRONMENTS = 'environment.remove'

/**
 * What has to be ended (and removed) on the nodes: steps only where there is something. Errors: CONFLICT where a run is in the
 * workspace that should be removed. Executing it gives an Ended or EnvironmentsRemoved a step; NODE_UNFIT if a process cannot be ended.
 */
export async function planEnd(hosts: Host[], input: EndInput, context: Context): Promise<EndPlan> {
  const verb = input.remove ? 'workspace.remove' : 'workspace.stop'
  const request = {project: input.project, grace: input.grace, owner: ownName()}
  // Nodes may share one folder of environments: all the workspaces that go count as gone.
  const ignoring = input.remove ? hosts.map((host) => ({user: `workspace:${input.project}`, root: host.root})) : []
  const found = await Promise.all(
    hosts.map(async (host) => ({
      host,
      would: await host.call<Omit<Ended, 'node'>>(verb, {...request, dry_run: true}, {signal: context.signal}),
      unused: input.environments
        ? await host.call<Omit<EnvironmentsRemoved, 'node'>>(ENVIRONMENTS, {ignoring, dry_run: true}, {signal: context.signal})
        : undefined,
    })),
  )
  const ends = found
    .filter(({would}) => would.ended.length > 0 || (would.survived ?? []).length > 0 || typeof would.removed === 'string')
    .map(({host, would}) => makeStep(host.node, verb, titleOf(would, input.remove), {...would}, []))
  const removals = found.flatMap(({host, unused}) => {
    if (!unused || unused.removed.length === 0) return []
    const title = `Remove ${count(unused.removed.length, 'Python environment')} that nothing uses: ${unused.removed.join(', ')} (${megabytes(unused.bytes)})`
    return [makeStep(host.node, ENVIRONMENTS, title, {...unused}, ends.map((step) => step.id))]
  })
  const at = (step: Step): Host => hosts.find((host) => host.node === step.node) as Host
  return {
    plan: {command: input.remove ? 'workspace remove' : 'workspace stop', steps: [...ends, ...removals]},
    handlers: {
      [verb]: async (step) => ({node: step.node, project: input.project, ...(await at(step).call<object>(verb, request, {signal: context.kill}))}),
      [ENVIRONMENTS]: async (step) => ({node: step.node, ...(await at(step).call<object>(ENVIRONMENTS, {}, {signal: context.kill}))}),
    },
  }
}

function makeStep(node: string, kind: string, title: string, input: Step['input'], needs: string[]): Step {
  return {id: `${kind === ENVIRONMENTS ? 'environments' : kind.slice('workspace.'.length)}:${node}`, node, kind, title, input, needs}
}

function titleOf(would: Omit<Ended, 'node'>, remove: boolean): string {
  const [first] = would.ended
  const end = !first ? '' : `End ${would.ended.length === 1 ? `process ${first.pid} (${first.command})` : count(would.ended.length, 'process', 'processes')}`
  if (!remove) return end
  return `${end === '' ? 'Remove' : `${end}, remove`} ${would.removed} (${count(would.files ?? 0, 'file')}, ${megabytes(would.bytes ?? 0)})`
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

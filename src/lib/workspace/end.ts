import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Handlers, PlanOf, StepOf} from '../plan/index.ts'
import type {EnvironmentsGone, WorkspaceRemoved, WorkspaceStopped} from '../protocol/index.ts'
import {ownName} from './sync.ts'

/** What `workspace stop` ended, or `workspace remove` removed, on a node. */
export interface Ended
  extends
    Pick<WorkspaceStopped, 'ended'>,
    Partial<Pick<WorkspaceStopped, 'survived'>>,
    Partial<Omit<WorkspaceRemoved, 'ended'>> {
  node: string
  project: string
}

/** Python environments that were removed from a node. */
export interface EnvironmentsRemoved extends EnvironmentsGone {
  node: string
}

export interface EndInput {
  project: string
  /** Also remove the workspace's folder. */
  remove: boolean
  /** Also remove the Python environments that nothing uses then. */
  environments: boolean
  /** What was saved of it goes, too. */
  history?: boolean
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
}

type EndStepInput = {node: string; project: string; grace: number; history?: boolean} & Omit<Ended, 'node' | 'project'>

export type EndKinds = {
  /** The last four are what was found, for whoever reads the plan: what else has come since is ended, too. */
  'workspace.stop': {input: EndStepInput; output: Ended}
  'workspace.remove': {input: EndStepInput; output: Ended}
  /** What is unused then goes; `removed` and `kept` are what was found. */
  'environment.remove': {input: Omit<EnvironmentsRemoved, never>; output: EnvironmentsRemoved}
}

export interface EndEnv {
  host(node: string): Host
  context: Context
}

export interface EndPlan {
  plan: PlanOf<EndKinds>
}

export const END_HANDLERS: Handlers<EndKinds, EndEnv> = {
  'workspace.stop': (input, _done, env) => end('workspace.stop', input, env),
  'workspace.remove': (input, _done, env) => end('workspace.remove', input, env),
  'environment.remove': async ({node}, _done, {host, context}) => ({
    node,
    ...(await host(node).call('environment.remove', {}, {signal: context.kill})),
  }),
}

async function end(
  verb: 'workspace.stop' | 'workspace.remove',
  {node, project, grace, history}: EndStepInput,
  {host, context}: EndEnv,
): Promise<Ended> {
  return {
    node,
    project,
    ...(await host(node).call(
      verb,
      {project, grace, owner: ownName(), ...(history && {history})},
      {signal: context.kill},
    )),
  }
}

/**
 * What has to be ended (and removed) on the nodes: steps only where there is something. Errors: CONFLICT where a run is
 * in the workspace that should be removed. Executing it gives an Ended or EnvironmentsRemoved a step; NODE_UNFIT if a
 * process cannot be ended.
 */
export async function planEnd(hosts: Host[], {project, grace, ...input}: EndInput, context: Context): Promise<EndPlan> {
  const kind = input.remove ? 'workspace.remove' : 'workspace.stop'
  // Nodes may share one folder of environments: all the workspaces that go count as gone.
  const ignoring = input.remove ? hosts.map((host) => ({user: `workspace:${project}`, root: host.root})) : []
  const found = await Promise.all(
    hosts.map(async (host) => ({
      node: host.node,
      would: (await host.call(
        kind,
        {project, grace, owner: ownName(), dry_run: true},
        {signal: context.signal},
      )) as Omit<Ended, 'node' | 'project'>,
      unused: input.environments
        ? await host.call('environment.remove', {ignoring, dry_run: true}, {signal: context.signal})
        : undefined,
    })),
  )
  const ends = found
    .filter(
      ({would}) => would.ended.length > 0 || (would.survived ?? []).length > 0 || typeof would.removed === 'string',
    )
    .map(({node, would}): StepOf<EndKinds> => ({
      id: `${input.remove ? 'remove' : 'stop'}:${node}`,
      node,
      kind,
      title: `${titleOf(would, input.remove)}${input.history ? ', and all that was saved of it' : ''}`,
      input: {...would, node, project, grace, ...(input.history && {history: true})},
      needs: [],
    }))
  const removals = found.flatMap(({node, unused}): StepOf<EndKinds>[] => {
    if (!unused || unused.removed.length === 0) return []
    const title = `Remove ${count(unused.removed.length, 'Python environment')} that nothing uses: ${unused.removed.join(', ')} (${megabytes(unused.bytes)})`
    return [
      {
        id: `environments:${node}`,
        node,
        kind: 'environment.remove',
        title,
        input: {...unused, node},
        needs: ends.map((step) => step.id),
      },
    ]
  })
  return {plan: {command: input.remove ? 'workspace remove' : 'workspace stop', steps: [...ends, ...removals]}}
}

function titleOf(would: Omit<Ended, 'node' | 'project'>, remove: boolean): string {
  const [first] = would.ended
  const end = !first
    ? ''
    : `End ${would.ended.length === 1 ? `process ${first.pid} (${first.command})` : count(would.ended.length, 'process', 'processes')}`
  if (!remove) return end
  return `${end === '' ? 'Remove' : `${end}, remove`} ${would.removed} (${count(would.files ?? 0, 'file')}, ${megabytes(would.bytes ?? 0)})`
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

import type {EventEmitter} from 'node:events'
import {hostname} from 'node:os'
import type {Context} from '../base/index.ts'
import {ensureEnvironment, type Environment, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Plan, Step, StepHandler} from '../plan/index.ts'
import {computeDelta, describeDelta, type Compared} from './delta.ts'
import {readRequirements, type Requirements} from './requirements.ts'
import {takeSnapshot, type Snapshot} from './snapshot.ts'
import {question, syncCode, type Synced} from './sync.ts'

/** A project's place on a node. */
export interface Workspace {
  node: string
  /** Absolute path of the code folder. */
  codePath: string
  /** Undefined where only the code was asked for. Known before it is built. */
  environment?: Environment
  /** What a sync changed; undefined before. */
  synced?: Synced
}

/** What has to be done, who does it, and where everything will be. Other plans may take in steps and handlers. */
export interface WorkspacePlan {
  /** No steps: everything is as it should be. */
  plan: Plan
  handlers: Record<string, StepHandler>
  /** By node, in the order of the hosts; filled in further while the steps are executed. */
  workspaces: Map<string, Workspace>
  /** Nodes that could not be looked at. */
  failed: Map<string, Error>
}

export interface WorkspaceOptions {
  /** Leave the Python environment alone. */
  codeOnly?: boolean
  /** What the plan is called. */
  command?: string
  /** Says of hosts that they are there while others are still being waited for: they are looked at meanwhile. Those that count are `hosts`. */
  early?: EventEmitter<{open: [Host]}>
}

interface Inspected {
  sync: Compared
  environment?: {hash: string; path: string; ready: boolean; noted: boolean; python: string}
}

export const SYNC = 'workspace.sync'
export const ENVIRONMENT = 'workspace.environment'

/**
 * Looks at the project and, in one call each, at the nodes: what has to travel, what has to be built. Changes nothing.
 * Errors of the project: CHECK_FAILED, NOT_FOUND (requirements). Errors of nodes are in `failed`.
 */
export async function planWorkspace(coming: Host[] | Promise<Host[]>, manifest: Manifest, context: Context, options: WorkspaceOptions = {}): Promise<WorkspacePlan> {
  const project = readProject(manifest, context, options)
  const looks = new Map<Host, Promise<Inspected>>()
  const look = (host: Host): Promise<Inspected> => {
    const begun = looks.get(host) ?? project.then((one) => inspect(host, manifest, one, context))
    looks.set(host, begun)
    return begun
  }
  options.early?.on('open', (host) => void look(host).catch(() => {})) // told below, where the host counts
  const [{snapshot, wanted}, hosts] = await Promise.all([project, coming])
  const result: WorkspacePlan = {plan: {command: options.command ?? 'workspace up', steps: []}, handlers: {}, workspaces: new Map(), failed: new Map()}
  const compared = new Map<string, Compared>()
  const found = await Promise.allSettled(hosts.map(look))
  for (const [index, host] of hosts.entries()) {
    const one = found[index] as PromiseSettledResult<Inspected>
    if (one.status === 'rejected') {
      result.failed.set(host.node, one.reason as Error)
      continue
    }
    const {sync, environment: planned} = one.value
    warnOfStranger(host.node, manifest, sync, snapshot, context)
    compared.set(host.node, sync)
    result.workspaces.set(host.node, {
      node: host.node,
      codePath: sync.path,
      ...(planned && {environment: {hash: planned.hash, path: planned.path, built: false}}),
    })
    result.plan.steps.push(...stepsOf(host.node, snapshot, one.value, wanted))
  }
  result.handlers = makeHandlers(hosts, manifest, snapshot, wanted, compared, result.workspaces, context)
  return result
}

interface Project {
  snapshot: Snapshot
  wanted: Requirements | undefined
}

async function readProject(manifest: Manifest, context: Context, {codeOnly}: WorkspaceOptions): Promise<Project> {
  const [snapshot, wanted] = await Promise.all([
    takeSnapshot(manifest.folder, manifest.workspace.exclude, context),
    codeOnly ? undefined : readRequirements(manifest.folder, manifest.workspace.python),
  ])
  return {snapshot, wanted}
}

async function inspect(host: Host, manifest: Manifest, {snapshot, wanted}: Project, context: Context): Promise<Inspected> {
  const environment = wanted && {requirements: wanted.requirements, constraints: wanted.constraints}
  return host.call('workspace.inspect', {...question(manifest.name, snapshot), environment}, {signal: context.signal})
}

function stepsOf(node: string, snapshot: Snapshot, {sync, environment}: Inspected, wanted: Requirements | undefined): Step[] {
  const steps: Step[] = []
  if (!sync.same) {
    const delta = computeDelta(snapshot, sync)
    steps.push({
      id: `sync:${node}`,
      node,
      kind: SYNC,
      title: `Sync code (${describeDelta(delta, sync)})`,
      input: {put: [...delta.put.keys()].sort(), remove: delta.remove, forget: delta.forget, bytes: delta.bytes},
      needs: [],
    })
  }
  if (environment && !(environment.ready && environment.noted)) {
    const count = wanted?.origins.length ?? 0
    steps.push({
      id: `environment:${node}`,
      node,
      kind: ENVIRONMENT,
      title: environment.ready
        ? `Use the Python environment ${environment.hash}, which is there`
        : `Build the Python environment ${environment.hash} (Python ${environment.python}, ${count === 1 ? '1 requirement' : `${count} requirements`})`,
      input: {hash: environment.hash, path: environment.path},
      needs: [],
    })
  }
  return steps
}

function makeHandlers(
  hosts: Host[],
  manifest: Manifest,
  snapshot: Snapshot,
  wanted: Requirements | undefined,
  compared: ReadonlyMap<string, Compared>,
  workspaces: Map<string, Workspace>,
  context: Context,
): Record<string, StepHandler> {
  const at = (step: Step): {host: Host; workspace: Workspace} => ({
    host: hosts.find((one) => one.node === step.node) as Host,
    workspace: workspaces.get(step.node as string) as Workspace,
  })
  return {
    [SYNC]: async (step) => {
      const {host, workspace} = at(step)
      workspace.synced = await syncCode(host, manifest.name, snapshot, context, compared.get(host.node))
      return workspace.synced
    },
    [ENVIRONMENT]: async (step) => {
      const {host, workspace} = at(step)
      workspace.environment = await ensureEnvironment(host, {...(wanted as Requirements), user: `workspace:${manifest.name}`}, context)
      return workspace.environment
    },
  }
}

/** Two projects of one name, or two people with one account, would take turns in one folder. */
function warnOfStranger(node: string, manifest: Manifest, compared: Compared, snapshot: Snapshot, context: Context): void {
  const source = `${hostname()}:${snapshot.folder}`
  const last = compared.last?.source
  if (compared.same || last === undefined || last === source) return
  context.reporter.warn(`${node}: the workspace ${manifest.name} was last synced from ${last}${compared.last?.owner ? ` by ${compared.last.owner}` : ''}; it now becomes the same as ${snapshot.folder}`)
}

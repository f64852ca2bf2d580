import type {EventEmitter} from 'node:events'
import {hostname} from 'node:os'
import type {Context} from '../base/index.ts'
import type {Environment, Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {PlanOf, StepOf} from '../plan/index.ts'
import type {Compared} from '../protocol/index.ts'
import {autosaveSteps} from './autosave.ts'
import {computeDelta, type Delta} from './delta.ts'
import {otherRuntime} from '../image/index.ts'
import {imageSteps, toolStep} from './image.ts'
import {besides, inspect, readProject, type Inspected} from './inspect.ts'
import {ProjectFiles} from './project-files.ts'
import {hasHashes, type Requirements} from './requirements.ts'
import type {Snapshot} from './snapshot.ts'
import {
  environmentSteps,
  syncSteps,
  type InspectedEnvironment,
  type ProjectOrigin,
  type WorkspaceKinds,
} from './steps.ts'
import {conflictOf, type Synced} from './sync.ts'

/** A project's place on a node. */
export interface Workspace {
  node: string
  /** Absolute path of the code folder. */
  codePath: string
  /** Undefined where only the code was asked for. Known before it is built. */
  environment?: Environment
  /** What its programs run in. */
  image?: {digest: string; ref: string}
  /** What a sync changed; undefined where it had nothing to do, or is still to come. */
  synced?: Synced
}

/** What has to be done, and where everything will be. Other plans may take in its steps, and WORKSPACE_HANDLERS. */
export interface WorkspacePlan {
  /** No steps: everything is as it should be. */
  plan: PlanOf<WorkspaceKinds>
  /** By node, in the order of the hosts: as they will be once the steps are done. */
  workspaces: ReadonlyMap<string, Workspace>
  /** Nodes that could not be looked at. */
  failed: ReadonlyMap<string, Error>
  /** What was read of the project, for those who carry the steps out in this process. */
  files: ProjectFiles
}

export interface WorkspaceOptions {
  /** Leave the Python environment alone. */
  codeOnly?: boolean
  /** Also replace what was edited or made on the nodes. */
  overwrite?: boolean
  /** What the plan is called. */
  command?: string
  /**
   * Says of hosts that they are there while others are still being waited for: they are looked at meanwhile. Those that
   * count are `hosts`.
   */
  early?: EventEmitter<{open: [Host]}>
}

/**
 * Looks at the project and, in one call each, at the nodes: what has to travel, what has to be built. Changes nothing.
 * Errors of the project: CHECK_FAILED, NOT_FOUND (requirements). Errors of nodes are in `failed`.
 */
export async function planWorkspace(
  coming: Host[] | Promise<Host[]>,
  manifest: Manifest,
  context: Context,
  options: WorkspaceOptions = {},
): Promise<WorkspacePlan> {
  const files = new ProjectFiles()
  const project = readProject(files, manifest, context, options)
  const looks = new Map<Host, Promise<Inspected>>()
  const look = (host: Host): Promise<Inspected> => {
    const begun = looks.get(host) ?? project.then((one) => inspect(host, manifest, one, context))
    looks.set(host, begun)
    return begun
  }
  options.early?.on('open', (host) => void look(host).catch(() => {})) // told below, where the host counts
  const [{snapshot, wanted, install, image}, hosts] = await Promise.all([project, coming])
  const origin: Omit<ProjectOrigin, 'image'> = {
    project: manifest.name,
    folder: manifest.folder,
    exclude: manifest.workspace.exclude,
    requirements: manifest.workspace.python ?? null,
    python: manifest.workspace.pythonVersion ?? null,
    install: install ?? null,
  }
  const workspaces = new Map<string, Workspace>()
  const failed = new Map<string, Error>()
  const steps: Step[] = []
  const found = await Promise.allSettled(hosts.map(look))
  const like =
    wanted &&
    !image &&
    likeOf(
      hosts.map(({node}, index) => ({node, environment: valueOf(found[index])?.environment})),
      wanted,
    )
  const together = found.filter((one) => valueOf(one)?.environment?.ready === false).length > 1
  const reference = valueOf(found[hosts.findIndex(({node}) => node === like)])?.environment
  for (const [index, {node}] of hosts.entries()) {
    const one = found[index] as PromiseSettledResult<Inspected>
    if (one.status === 'rejected') {
      failed.set(node, one.reason as Error)
      continue
    }
    const {sync, found: foundImage} = one.value
    const imageComes = imageSteps(
      node,
      manifest.name,
      manifest.folder,
      manifest.workspace.image,
      image,
      foundImage,
      one.value.image,
    )
    const beside =
      wanted !== undefined &&
      reference?.ready === true &&
      one.value.environment?.ready === true &&
      one.value.environment.versions !== reference.versions
    const {environment} = beside
      ? await besides(hosts, index, like as string, wanted, {
          files,
          manifest,
          context,
          project: {snapshot, wanted, install, image},
        })
      : one.value
    const delta = computeDelta(snapshot, sync, options)
    if (delta.conflicts.length > 0) {
      failed.set(node, conflictOf(node, delta))
      continue
    }
    warnOfForeign(node, manifest, sync, snapshot, context)
    warnOfKept(node, delta.kept, context)
    if (foundImage?.instead)
      context.reporter.warn(
        otherRuntime(node, foundImage.instead.engine, foundImage.instead.why, foundImage.instead.loss),
      )
    workspaces.set(node, {
      node,
      codePath: sync.path,
      ...(foundImage && {image: {digest: foundImage.image.manifest, ref: foundImage.image.ref}}),
      ...(environment && {environment: {hash: environment.hash, path: environment.path, built: false}}),
    })
    const here: ProjectOrigin = {...origin, image: foundImage?.image.manifest ?? null}
    steps.push(
      ...nodeSteps(node, manifest, here, {
        ...one.value,
        snapshot,
        delta,
        options,
        imageComes,
        environment: wanted && environment && {wanted, found: environment, like: like || null, beside, together},
      }),
    )
  }
  return {plan: {command: options.command ?? 'workspace up', steps}, workspaces, failed, files}
}

type Step = StepOf<WorkspaceKinds>

/** What a node has, and what is to come there. */
interface NodeNeeds extends Pick<Inspected, 'sync' | 'lacksTool' | 'saves' | 'autosave'> {
  snapshot: Snapshot
  delta: Delta
  options: WorkspaceOptions
  imageComes: Step[]
  /** Undefined where it needs none. */
  environment:
    | {
        wanted: Requirements
        found: Omit<InspectedEnvironment, 'synced'>
        like: string | null
        beside: boolean
        together: boolean
      }
    | undefined
}

function nodeSteps(
  node: string,
  {name, workspace: {autosave, exclude}}: Manifest,
  here: ProjectOrigin,
  {snapshot, sync, delta, options, imageComes, lacksTool, saves, autosave: isSaved = false, environment}: NodeNeeds,
): Step[] {
  const syncs = syncSteps(node, here, snapshot.tree, sync, delta, options.overwrite ?? false)
  const others = options.codeOnly
    ? []
    : [
        ...imageComes,
        ...(lacksTool ? [toolStep(node)] : []),
        ...autosaveSteps(node, name, autosave, exclude, saves, isSaved, syncs.length > 0),
      ]
  if (!environment) return [...syncs, ...others]
  const {wanted, found, ...how} = environment
  const known = {...found, synced: sync.same}
  return [
    ...syncs,
    ...others,
    ...environmentSteps(node, here, wanted, known, {...how, imageComes: imageComes.length > 0}),
  ]
}

const valueOf = <T>(settled: PromiseSettledResult<T> | undefined): T | undefined =>
  settled?.status === 'fulfilled' ? settled.value : undefined

/**
 * Whose versions count: those of a node that has the environment, else of the first; null where there is nothing to
 * choose. Pure.
 */
function likeOf(
  nodes: {node: string; environment?: {ready: boolean} | undefined}[],
  {requirements}: Requirements,
): string | null {
  const there = nodes.filter(({environment}) => environment)
  if (there.length < 2 || requirements === '' || hasHashes(requirements)) return null
  return (there.find(({environment}) => environment?.ready) ?? there[0])?.node ?? null
}

/** Only the node has changed them: they stay, and what runs there has them. */
function warnOfKept(node: string, kept: string[], context: Context): void {
  if (kept.length === 0) return
  const names = `${kept.slice(0, 3).join(', ')}${kept.length > 3 ? ` and ${kept.length - 3} more` : ''}`
  context.reporter.warn(
    `${node}: edited there, and left as they are: ${names}; flexrack workspace pull --on ${node} brings them, workspace sync --overwrite replaces them`,
  )
}

/** Two projects of one name, or two people with one account, would take turns in one folder. */
function warnOfForeign(
  node: string,
  manifest: Manifest,
  compared: Compared,
  snapshot: Snapshot,
  context: Context,
): void {
  const source = `${hostname()}:${snapshot.folder}`
  const last = compared.last?.source
  if (compared.same || last === undefined || last === source) return
  context.reporter.warn(
    `${node}: the workspace ${manifest.name} was last synced from ${last}${compared.last?.owner ? ` by ${compared.last.owner}` : ''}; it now becomes the same as ${snapshot.folder}`,
  )
}

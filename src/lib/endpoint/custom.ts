import {CliError} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {IsolateSpec} from '../manifest/index.ts'
import type {ServingProtocol} from '../protocol/index.ts'
import type {Recipe, RenderedRecipe} from '../recipe/index.ts'
import {planWorkspace, workspaceScript, type WorkspacePlace, type WorkspacePlan} from '../workspace/index.ts'
import type {Release} from './document.ts'
import {hostOf, type Site} from './site.ts'

/** The runtime that is no recipe: a command of the project's own. */
export const CUSTOM = 'custom'

/**
 * A model server of the project's own, as its release keeps it: more servers, and a rollback, need neither the manifest
 * nor the project.
 */
export interface CustomServer {
  /** Words, with placeholders. */
  command: string[]
  ready: {path: string; seconds: number}
  /** workspace.env of the manifest. */
  env: Record<string, string>
  isolate?: IsolateSpec
  /** Hash over the project's files as they were deployed. */
  tree: string
  /** By node: its workspace, with the code in the release's own folder. Known once it is there. */
  places: Record<string, CodePlace>
}

/** Where the drivers of a server's leases lie; filled in at each start (node: serving/with_gpus.py). */
const LEASED_LIBRARIES = '@FLEXRACK_LEASED_LIBRARIES@'

export interface CodePlace extends WorkspacePlace {
  /** Folders of the code from which a project that is installed editable is imported. */
  imports: string[]
}

/**
 * What the manifest says of an endpoint's server, and what its nodes lack of the project. Only looks. Errors: USAGE
 * where there is no command, where nobody could reach it; those of planWorkspace.
 */
export async function planServer(
  site: Site,
  endpoint: string,
  nodes: string[],
): Promise<{server: CustomServer; protocol: ServingProtocol; workspaces: WorkspacePlan}> {
  const {manifest, context} = site
  const wanted = manifest?.endpoints[endpoint]?.server
  if (!manifest || !wanted)
    throw new CliError('USAGE', `the runtime ${CUSTOM} needs a command in flexrack.yaml`, {
      hint: `endpoints: {${endpoint}: {model: NAME, command: "python serve.py --port {port}"}}`,
    })
  const {isolate, env, exclude} = manifest.workspace
  if (isolate?.network === 'none')
    throw new CliError('USAGE', 'a server in a sandbox without network is reached by nobody', {
      hint: 'workspace: {isolate: {network: host}}',
    })
  const hosts = await Promise.all(nodes.map((node) => hostOf(site, node)))
  const workspaces = await planWorkspace(hosts, manifest, context)
  const [failed] = workspaces.failed.values()
  if (failed) throw failed
  const {tree} = await workspaces.files.snapshot(manifest.folder, exclude, context)
  const {command, protocol, ready} = wanted
  return {server: {command, ready, env, tree, places: {}, ...(isolate && {isolate})}, protocol, workspaces}
}

/** True where what serves is the same server: its words, its code, and what it runs in. Pure. */
export function isSameServer(
  active: Pick<Release, 'custom' | 'protocol'>,
  wanted: Pick<Release, 'custom' | 'protocol'>,
  workspaces: WorkspacePlan['workspaces'] | undefined,
): boolean {
  const said = ({custom, protocol}: Pick<Release, 'custom' | 'protocol'>): string =>
    JSON.stringify(custom && [custom.command, custom.ready, custom.env, custom.isolate, custom.tree, protocol])
  if (said(active) !== said(wanted)) return false
  return Object.entries(active.custom?.places ?? {}).every(([node, {environment, image}]) => {
    const now = workspaces?.get(node)
    return now?.environment?.path === environment?.path && now?.image?.digest === image?.digest
  })
}

/** A server's words as a recipe has them. `suffix` empty: whatever the version has. Pure. */
export function recipeOfServer({command, ready}: CustomServer, protocol: ServingProtocol = 'v2'): Recipe {
  return {
    name: CUSTOM,
    folder: '',
    title: "A model server of the project's own",
    suffix: '',
    protocol,
    python: {atLeast: '3.9', below: undefined},
    requirements: '',
    ports: ['http'],
    files: {},
    start: {argv: command, env: {}, restart: {max: 100, windowSeconds: 600}},
    ready,
    graceSeconds: 15,
  }
}

/** Keeps the code of a workspace, as it is on the node now, with a release. Errors: NOT_FOUND, LOCKED. */
export async function keepCode(
  host: Host,
  {endpoint, release, project}: {endpoint: string; release: string; project: string},
): Promise<CodePlace> {
  const [found] = await host.call('workspace.list', {project})
  if (!found || found.synced_at === null)
    throw new CliError('NOT_FOUND', `${host.node} has no code of ${project}`, {hint: 'flexrack workspace up'})
  const {path, environment, image, enter, synced_at: at} = found
  const {folder, imports} = await host.call('endpoint.code', {
    name: endpoint,
    release,
    workspace: project,
    ...(environment && {environment: environment.path}),
  })
  const syncedAt = new Date(at * 1000).toISOString()
  return {node: host.node, project, path, code: folder, environment, image, enter, syncedAt, imports}
}

/**
 * How it is started on a node: in its workspace's image or sandbox, with its Python first on the path. `folders`:
 * absolute, of the model, which it reads, and its own, which it may write into. Pure.
 */
export function startOf(
  {argv}: RenderedRecipe,
  {env, isolate}: CustomServer,
  place: CodePlace,
  folders: {read: string[]; write: string[]},
  leases: boolean,
): {argv: string[]; env: Record<string, string>} {
  const all: Record<string, string> = {PYTHONUNBUFFERED: '1', ...env}
  if (place.imports.length > 0)
    all.PYTHONPATH = [...place.imports, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':')
  const started = workspaceScript(place, all, argv, {isolate, ...folders, ...(leases && {libraries: LEASED_LIBRARIES})})
  // by which `workspace stop` finds what it ends: a model server is none of that
  const {FLEXRACK_WORKSPACE_FOLDER: _, ...kept} = started.env
  return {argv: ['/bin/sh', '-c', started.script], env: kept}
}

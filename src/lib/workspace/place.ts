import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {IsolateSpec} from '../manifest/index.ts'
import type {BoundVolume, EnterOrder, WorkspaceEntry} from '../protocol/index.ts'
import {quote} from '../ssh/index.ts'
import {volumeVariables} from '../volume/index.ts'

/** A workspace as a node tells of it. */
export interface PlacedWorkspace extends Omit<WorkspaceEntry, 'synced_at'> {
  node: string
  /** ISO 8601; null before the first sync. */
  syncedAt: string | null
}

/** The workspaces on a node: all, or that of one project (none or one). */
export async function findWorkspaces(
  host: Host,
  project: string | undefined,
  context: Context,
): Promise<PlacedWorkspace[]> {
  const found = await host.call('workspace.list', {project}, {signal: context.signal})
  return found.map(({synced_at: at, ...one}) => ({
    node: host.node,
    ...one,
    syncedAt: at === null ? null : new Date(at * 1000).toISOString(),
  }))
}

/** What a program in a workspace is started with besides. */
export interface WorkspaceParts {
  /** First among the folders of shared libraries: our GPU drivers. */
  libraries?: string | null
  /** What starts it, on the node itself: it stays outside of an image. */
  prefix?: string[]
  /** It runs in a sandbox. */
  isolate?: IsolateSpec | undefined
  /** Absolute, writable in the sandbox besides the code. */
  write?: string[]
  /** Absolute, readable in the image or sandbox besides. */
  read?: string[]
  /** Folders of the node that it may have. */
  volumes?: BoundVolume[]
}

/** What of a workspace a program in it is started by. */
export type WorkspacePlace = Pick<
  PlacedWorkspace,
  'node' | 'project' | 'path' | 'code' | 'environment' | 'image' | 'enter' | 'syncedAt'
>

/** Of ours and of a terminal: they count although the image sets them. */
const KEPT = ['VIRTUAL_ENV', 'TERM', 'FLEXRACK_WORKSPACE', 'FLEXRACK_WORKSPACE_FOLDER']

/** What stands for a login shell in an image, which may have another one than the account. */
const SHELL = [
  '/bin/sh',
  '-c',
  'if [ -x "$SHELL" ]; then exec "$SHELL"; elif command -v bash >/dev/null 2>&1; then exec bash; fi; exec /bin/sh',
]

/**
 * A script and its environment variables that run `words` (or a login shell) in a workspace: in its image and in a
 * sandbox where it has one, with its Python first on the path.
 */
export function workspaceScript(
  workspace: WorkspacePlace,
  env: Record<string, string>,
  words: string[],
  {libraries = null, prefix = [], isolate, read = [], write = [], volumes = []}: WorkspaceParts = {},
): {script: string; env: Record<string, string>} {
  if (workspace.syncedAt === null) {
    throw new CliError('NOT_FOUND', `the workspace ${workspace.project} on ${workspace.node} has no code yet`, {
      hint: `flexrack workspace up --on ${workspace.node}`,
    })
  }
  const {environment} = workspace
  if (environment && !environment.ready) {
    throw new CliError(
      'NOT_FOUND',
      `the Python environment ${environment.hash} of ${workspace.project} is not on ${workspace.node} any more`,
      {hint: `flexrack workspace up --on ${workspace.node}`},
    )
  }
  const lines = [`cd ${quote([workspace.code])} || exit 1`]
  if (environment) lines.push('unset PYTHONHOME', `PATH=${quote([`${environment.path}/bin`])}:"$PATH"; export PATH`)
  if (libraries !== null)
    lines.push(`LD_LIBRARY_PATH=${quote([libraries])}"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; export LD_LIBRARY_PATH`)
  if (workspace.image || isolate) {
    const order: EnterOrder = {
      ...(workspace.image && {image: workspace.image.digest}),
      ...(isolate && {isolate: {...isolate}}),
      read,
      write: [workspace.code, ...write],
      gpus: libraries === null ? null : [],
      cwd: workspace.code,
      ...(volumes.length > 0 && {volumes}),
      path: environment ? [`${environment.path}/bin`] : [],
      keep: [...Object.keys(env), ...Object.keys(volumeVariables(volumes)), ...KEPT],
      ...(libraries !== null && {drivers: libraries}),
    }
    lines.push(
      `exec ${quote([...prefix, ...workspace.enter, JSON.stringify(order), '--', ...(words.length > 0 ? words : SHELL)])}`,
    )
  } else {
    lines.push(words.length > 0 ? `exec ${quote([...prefix, ...words])}` : 'exec "${SHELL:-/bin/sh}"')
  }
  return {
    script: `${lines.join('\n')}\n`,
    env: {
      ...(environment && {VIRTUAL_ENV: environment.path}),
      ...env,
      ...volumeVariables(volumes),
      FLEXRACK_WORKSPACE: workspace.project,
      FLEXRACK_WORKSPACE_FOLDER: workspace.path, // how `workspace stop` finds what it has to end
    },
  }
}

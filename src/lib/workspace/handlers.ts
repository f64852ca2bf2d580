/** Carries the steps of a workspace out; what they say, and which there are, is steps.ts. */
import type {Context} from '../base/index.ts'
import {ensureEnvironment, VERSIONS, type Environment, type Host} from '../host/index.ts'
import {needBubblewrap, sendImage, type SentImage} from '../image/index.ts'
import type {Handlers} from '../plan/index.ts'
import {settleAutosave} from './autosave.ts'
import type {Delta} from './delta.ts'
import type {Entry} from './entry.ts'
import {lacksSandbox} from './image.ts'
import {pinDigest} from './image-pin.ts'
import {changedSince, digestOf, type ProjectFiles} from './project-files.ts'
import type {Snapshot} from './snapshot.ts'
import {
  constraintsWith,
  type EnvironmentInput,
  type ImageInput,
  type SyncInput,
  type ToolInput,
  type WorkspaceKinds,
} from './steps.ts'
import {syncCode, type Synced} from './sync.ts'

export interface WorkspaceEnv {
  host(node: string): Host | Promise<Host>
  files: ProjectFiles
  context: Context
}

export const WORKSPACE_HANDLERS: Handlers<WorkspaceKinds, WorkspaceEnv> = {
  'workspace.sync': sync,
  'workspace.environment': environment,
  'workspace.image': bringImage,
  'workspace.tool': tool,
  'workspace.autosave': async (input, _done, {host, context}) => settleAutosave(await host(input.node), input, context),
}

async function sync(input: SyncInput, _done: unknown, {host, files, context}: WorkspaceEnv): Promise<Synced> {
  const snapshot = await files.snapshot(input.folder, input.exclude, context)
  if (snapshot.tree !== input.tree) throw changedSince(input.folder, 'the project')
  return syncCode(await host(input.node), input.project, snapshot, context, {
    delta: deltaOf(input, snapshot),
    revision: input.revision,
    path: input.codePath,
    overwrite: input.overwrite,
  })
}

function deltaOf({put, remove, forget, send, bytes}: SyncInput, {entries, sizes}: Snapshot): Delta {
  const entryOf = (path: string): Entry => entries.get(path) as Entry
  return {
    put: new Map(put.map((path) => [path, entryOf(path)])),
    remove,
    forget,
    send: new Map(send.map((path) => [entryOf(path).digest, {path, size: sizes.get(path) ?? 0}])),
    bytes,
    kept: [],
    conflicts: [],
  }
}

async function environment(
  input: EnvironmentInput,
  _done: unknown,
  {host, files, context}: WorkspaceEnv,
): Promise<Environment & {node: string}> {
  const {warnings: _told, ...wanted} = await files.requirements(
    input.folder,
    input.requirements,
    input.python ?? undefined,
  )
  if (digestOf(wanted) !== input.digest) throw changedSince(input.folder, input.requirements ?? 'the list of packages')
  const {like, beside, together, install, image: digest, python: version} = input
  const content = {
    ...wanted,
    ...(version !== null && {python: version}),
    ...(install && {project: install}),
    ...(digest !== null && {image: digest}),
  }
  const pins =
    like === null
      ? undefined
      : await files.versions(like, input.digest, async () => VERSIONS.choose(await host(like), content, context))
  const limits = beside ? {constraints: constraintsWith(wanted.constraints, pins ?? '')} : pins ? {pins} : {}
  return {
    node: input.node,
    ...(await ensureEnvironment(
      await host(input.node),
      {...content, ...limits, together, user: `workspace:${input.project}`},
      context,
    )),
  }
}

/** The step workspace.image. */
export async function bringImage(
  {node, project, folder, text, digest, manifest, pin, sandbox}: ImageInput,
  _done: unknown,
  {host, files, context}: WorkspaceEnv,
): Promise<SentImage & {node: string}> {
  const target = await host(node)
  if (text === null || digest === null || manifest === null) {
    await target.call('image.forget', {project}, {signal: context.signal})
    return {node, layers: 0, bytes: 0}
  }
  const found = files.image(text, folder, context)
  const sent = await sendImage(target, project, found, await found.manifest(digest, manifest), sandbox, context)
  if (pin) await files.once(`pin ${folder}`, () => pinDigest(folder, found.ref.text, digest))
  return {node, ...sent}
}

async function tool({node}: ToolInput, _done: unknown, {host, context}: WorkspaceEnv): Promise<{node: string}> {
  const target = await host(node)
  await needBubblewrap(target, context)
  await lacksSandbox(target, context) // that it works is known only now
  return {node}
}

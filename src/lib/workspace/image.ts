import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {bubblewrapVersion, type Image, type ImageFiles} from '../image/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {StepOf} from '../plan/index.ts'
import type {WorkspaceInspected} from '../protocol/index.ts'
import {pinnedDigest} from './image-pin.ts'
import type {ProjectFiles} from './project-files.ts'
import type {WorkspaceKinds} from './steps.ts'

/** What `workspace.image` stands for. */
export interface WantedImage {
  files: ImageFiles
  /** As it is written, without a digest. */
  ref: string
  digest: string
  /** flexrack.lock says so, or the manifest does. */
  isPinned: boolean
}

/** What a node has of it, and what it lacks. */
export interface InspectedImage {
  image: Image
  missing: string[]
  lacksTool: boolean
  /** What is there is for another runtime than the one that works now. */
  remake: boolean
  /** It was asked for what makes sandboxes. */
  sandbox: boolean
  /**
   * What runs it instead of bubblewrap, why, and what is missing with that; undefined where bubblewrap does, or is not
   * there yet.
   */
  instead?: {engine: string; why: string; loss: string}
}

/**
 * Asks the registry only for a tag that was never resolved. Undefined where the project has no image. Errors: those of
 * ImageFiles.
 */
export async function readImage(
  files: ProjectFiles,
  {folder, workspace: {image: text}}: Manifest,
  context: Context,
): Promise<WantedImage | undefined> {
  if (text === undefined) return undefined
  const image = files.image(text, folder, context)
  const {text: ref, digest, kind} = image.ref
  if (digest !== undefined) return {files: image, ref, digest, isPinned: true}
  // A folder or a file is there to be looked at: what it has now is meant.
  const kept = kind === 'registry' ? await pinnedDigest(folder, ref) : undefined
  return {
    files: image,
    ref,
    digest: kept ?? (await image.digest()),
    isPinned: kept !== undefined || kind !== 'registry',
  }
}

/**
 * What a node would have to get. Changes nothing. `sandbox`: only what makes sandboxes counts. Errors: NODE_UNFIT where
 * nothing there can run images, or the image is for another kind of machine.
 */
export async function inspectImage(
  host: Host,
  {files, digest}: WantedImage,
  sandbox: boolean,
  context: Context,
): Promise<InspectedImage> {
  const tool = bubblewrapVersion()
  const {machine} = await host.call('image.inspect', {layers: [], tool}, {signal: context.signal})
  const image = await files.image(digest, machine)
  const {runtime, missing, lacks, remake} = await host.call(
    'image.inspect',
    {layers: image.layers.map((one) => one.diffId), tool, image: image.manifest, sandbox},
    {signal: context.signal},
  )
  if (runtime.engine === null && runtime.why !== '') {
    throw new CliError(
      'NODE_UNFIT',
      `${host.node} cannot run ${sandbox ? 'images in a sandbox (workspace.isolate)' : 'images'}: ${runtime.why}`,
      {...(runtime.hint !== null && {hint: runtime.hint}), details: {node: host.node}},
    )
  }
  const instead =
    runtime.engine !== null && runtime.loss !== null
      ? {engine: runtime.engine, why: runtime.why, loss: runtime.loss}
      : undefined
  return {image, missing, lacksTool: lacks !== null, remake, sandbox, ...(instead && {instead})}
}

/** None where the image is there, and noted as this project's. Pure. */
export function imageSteps(
  node: string,
  project: string,
  folder: string,
  text: string | undefined,
  wanted: {isPinned: boolean; digest: string} | undefined,
  found: InspectedImage | undefined,
  noted: WorkspaceInspected['image'],
): StepOf<Pick<WorkspaceKinds, 'workspace.image'>>[] {
  if (text === undefined || !wanted || !found)
    return noted
      ? [
          {
            id: `image:${node}`,
            node,
            kind: 'workspace.image',
            title: `Leave the image ${noted.ref}`,
            input: {
              node,
              project,
              folder,
              text: null,
              digest: null,
              manifest: null,
              missing: [],
              bytes: 0,
              pin: false,
              sandbox: false,
            },
            needs: [],
          },
        ]
      : []
  const {image, missing, lacksTool, remake, instead} = found
  if (noted?.digest === image.manifest && missing.length === 0 && !lacksTool && !remake && wanted.isPinned) return []
  const sizes = new Map(image.layers.map((one) => [one.diffId, one.size]))
  const bytes = missing.reduce((sum, one) => sum + (sizes.get(one) ?? 0), 0)
  const what =
    missing.length === 0
      ? 'which is there'
      : `${missing.length} of ${image.layers.length} layer${image.layers.length > 1 ? 's' : ''}, ${(bytes / 1e6).toFixed(1)} MB`
  const input = {
    node,
    project,
    folder,
    text,
    digest: wanted.digest,
    manifest: image.manifest,
    missing,
    bytes,
    pin: !wanted.isPinned,
    sandbox: found.sandbox,
  }
  return [
    {
      id: `image:${node}`,
      node,
      kind: 'workspace.image',
      title: `Use the image ${image.ref} (${what}${instead ? `, run by ${instead.engine}` : ''})${wanted.isPinned ? '' : ', and pin it in flexrack.lock'}`,
      input,
      needs: [],
    },
  ]
}

/** Whether what runs sandboxes is still to be sent to a node. Errors: NODE_UNFIT where nothing there can run them. */
export async function lacksSandbox(host: Host, context: Context): Promise<boolean> {
  const {runtime, lacks} = await host.call(
    'image.sandbox',
    {layers: [], tool: bubblewrapVersion()},
    {signal: context.signal},
  )
  if (runtime.engine === null && runtime.why !== '') {
    throw new CliError('NODE_UNFIT', `${host.node} cannot run sandboxes (workspace.isolate): ${runtime.why}`, {
      ...(runtime.hint !== null && {hint: runtime.hint}),
      details: {node: host.node},
    })
  }
  return lacks !== null
}

export function toolStep(node: string): StepOf<WorkspaceKinds> {
  return {
    id: `tool:${node}`,
    node,
    kind: 'workspace.tool',
    title: 'Bring bubblewrap, which runs sandboxes',
    input: {node},
    needs: [],
  }
}

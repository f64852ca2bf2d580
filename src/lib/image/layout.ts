import {spawn} from 'node:child_process'
import {createReadStream} from 'node:fs'
import {join} from 'node:path'
import type {Readable} from 'node:stream'
import {CliError, textIfThere, type Context} from '../base/index.ts'
import {readSmall} from './limited.ts'
import {MOST_MANIFEST_BYTES, readManifest} from './manifest.ts'
import type {BlobSource, Descriptor, ImageReference} from './types.ts'

type Local = Extract<ImageReference, {path: string}>

/** A folder in the OCI image layout, or a tar of one (`docker save`, `skopeo copy ... oci-archive:`). */
export function openLayout(ref: Local, context: Context): BlobSource {
  return ref.kind === 'layout' ? folderSource(ref.path) : archiveSource(ref.path, context)
}

/**
 * Digest of the manifest that index.json names: by its tag, or the only one. Errors: NOT_FOUND, USAGE, REMOTE_FAILED.
 */
export async function digestInLayout(ref: Local, context: Context): Promise<string> {
  const text =
    ref.kind === 'layout'
      ? await textIfThere(join(ref.path, 'index.json'))
      : (await readSmall(member(ref.path, 'index.json', context), MOST_MANIFEST_BYTES, 'index.json')).toString()
  if (text === undefined)
    throw new CliError('NOT_FOUND', `${ref.path} is no OCI image layout: there is no index.json in it`, {
      hint: 'skopeo copy docker://IMAGE oci:FOLDER makes one',
    })
  const index = readManifest(Buffer.from(text), `index.json of ${ref.path}`)
  if (index.kind !== 'index') throw new CliError('REMOTE_FAILED', `index.json of ${ref.path} is no index`)
  const found =
    ref.tag === undefined
      ? index.manifests
      : index.manifests.filter((one) => one.tag === ref.tag || one.tag?.endsWith(`:${ref.tag}`))
  if (found.length === 1) return (found[0] as Descriptor).digest
  const tags = index.manifests.flatMap((one) => one.tag ?? [])
  if (found.length === 0)
    throw new CliError(
      'NOT_FOUND',
      `${ref.path} has no image${ref.tag === undefined ? '' : ` with the tag ${ref.tag}`}`,
      {details: {tags}},
    )
  throw new CliError('USAGE', `${ref.path} has ${found.length} images: ${tags.join(', ') || 'without tags'}`, {
    hint: `workspace.image: ${ref.text}:${tags[0] ?? 'TAG'}`,
  })
}

const nameOf = (digest: string): string => `blobs/${digest.replace(':', '/')}`

function folderSource(folder: string): BlobSource {
  const file = ({digest}: Pick<Descriptor, 'digest'>): string => join(folder, nameOf(digest))
  const open = (path: string): Readable => createReadStream(path)
  return {
    file,
    manifest: async (digest) => ({
      bytes: await readSmall(open(file({digest})), MOST_MANIFEST_BYTES, digest).catch((error: unknown) =>
        missing(error, digest, folder),
      ),
    }),
    blob: async (descriptor) => open(file(descriptor)),
  }
}

function archiveSource(path: string, context: Context): BlobSource {
  return {
    manifest: async (digest) => ({
      bytes: await readSmall(member(path, nameOf(digest), context), MOST_MANIFEST_BYTES, digest),
    }),
    blob: async ({digest}) => member(path, nameOf(digest), context),
  }
}

/** One file of a tar, by the system's tar, which knows every form of one and how it is packed. Only to its stdout. */
function member(path: string, name: string, {signal, env}: Context): Readable {
  const child = spawn('tar', ['-xOf', path, name], {
    env: {...env, TAR_OPTIONS: ''},
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)))
  child.on('error', (error) =>
    child.stdout.destroy(new CliError('LOCAL_FAILED', `tar does not run here: ${error.message}`)),
  )
  child.on('exit', (code) => {
    if (code)
      child.stdout.destroy(
        new CliError('NOT_FOUND', `${path} has no whole ${name}: ${said.trim().split('\n').at(-1) ?? ''}`, {
          hint: 'an OCI archive is taken: docker save, or skopeo copy docker://IMAGE oci-archive:FILE',
        }),
      )
  })
  return child.stdout
}

function missing(error: unknown, digest: string, folder: string): never {
  if ((error as {code?: string}).code === 'ENOENT')
    throw new CliError('NOT_FOUND', `${folder} lacks the blob ${digest}`, {hint: 'copy the image there anew'})
  throw error
}

import {createZstdDecompress} from 'node:zlib'
import {pipeline, Transform} from 'node:stream'
import {CliError, ownerName, withProgress, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {ImageFiles} from './find.ts'
import {packingOf} from './manifest.ts'
import {bringBubblewrap, bubblewrapVersion} from './tool.ts'
import type {Image} from './types.ts'

export interface SentImage {
  /** Layers that had to travel, and their bytes as they are packed. */
  layers: number
  bytes: number
}

/**
 * Makes an image usable on a node for a project: bubblewrap, the layers that are missing there, and the note that the
 * workspace runs in it. `sandbox`: what cannot make one does not count. Errors: NODE_UNFIT where nothing can run images
 * there, with the reason; CONFLICT for a layer that is damaged or hostile; those of ImageFiles.
 */
export async function sendImage(
  host: Host,
  project: string,
  files: ImageFiles,
  image: Image,
  sandbox: boolean,
  context: Context,
): Promise<SentImage> {
  const ids = image.layers.map((one) => one.diffId)
  const question = {layers: ids, tool: bubblewrapVersion(), sandbox}
  let found = await host.call('image.inspect', question, {signal: context.signal})
  if (found.lacks !== null) {
    await bringBubblewrap(host, found.lacks, context)
    const isNew = found.runtime.engine === null
    found = await host.call('image.inspect', question, {signal: context.signal})
    if (isNew && found.runtime.engine !== null && found.runtime.loss !== null)
      context.reporter.warn(otherRuntime(host.node, found.runtime.engine, found.runtime.why, found.runtime.loss))
  }
  if (found.runtime.engine === null) throw cannotRun(host.node, found.runtime)
  let bytes = 0
  const missing = new Set(found.missing)
  for (const [index, layer] of image.layers.entries()) {
    if (!missing.delete(layer.diffId)) continue
    bytes += layer.size
    const packing = packingOf(layer)
    await withProgress(
      context.reporter,
      [`Layer ${index + 1} of ${image.layers.length} of ${image.ref}`, host.node],
      async (progress) => {
        progress.detail('pulling')
        const body = await files.open(layer, (done) => progress.amount(done, layer.size, 'bytes'))
        progress.detail('unpacking')
        const counted = pipeline(
          body,
          counting((sent) => progress.amount(sent, layer.size, 'bytes')),
          () => {},
        )
        const plain = packing === 'zstd' ? pipeline(counted, createZstdDecompress(), () => {}) : counted
        await host.call(
          'image.layer',
          {diff_id: layer.diffId, encoding: packing === 'gzip' ? 'gzip' : 'none', owner: ownerName(context)},
          {body: plain, signal: context.signal},
        )
      },
    )
  }
  await host.call(
    'image.keep',
    {
      project,
      digest: image.manifest,
      ref: image.ref,
      layers: ids,
      settings: {env: image.env, ...(image.user !== undefined && {user: image.user})},
    },
    {signal: context.signal},
  )
  return {layers: found.missing.length, bytes}
}

function counting(tell: (bytes: number) => void): Transform {
  let sent = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      tell((sent += chunk.length))
      done(null, chunk)
    },
  })
}

/** What runs images there is not what keeps their promises. */
export const otherRuntime = (node: string, engine: string, why: string, loss: string): string =>
  `${node} runs images by ${engine}, as bubblewrap does not work there (${why}): ${loss}`

function cannotRun(node: string, {why, hint}: {why: string; hint: string | null}): CliError {
  return new CliError('NODE_UNFIT', `${node} cannot run images: ${why || 'bubblewrap is not there'}`, {
    ...(hint !== null && {hint}),
    details: {node},
  })
}

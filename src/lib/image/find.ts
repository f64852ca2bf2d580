import {mkdir, readFile, rename, rm, stat} from 'node:fs/promises'
import {createReadStream, createWriteStream} from 'node:fs'
import {dirname, join} from 'node:path'
import type {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {CliError, ensurePrivateFolder, hashFile, randomId, userPaths, type Context} from '../base/index.ts'
import {digestInLayout, openLayout} from './layout.ts'
import {Checked} from './limited.ts'
import {choosePlatform, digestOf, imageOf, MOST_CONFIG_BYTES, MOST_MANIFEST_BYTES, readManifest} from './manifest.ts'
import {parseReference} from './reference.ts'
import {Registry} from './registry.ts'
import type {BlobSource, Descriptor, Image, ImageReference, Layer} from './types.ts'

/**
 * An image of a project on this machine: what it is, and its blobs, each fetched once and kept in the user's cache by
 * its digest. What a registry says is believed only as far as its digests hold.
 */
export class ImageFiles {
  readonly ref: ImageReference
  readonly #source: BlobSource
  readonly #folder: string
  readonly #context: Context
  readonly #coming = new Map<string, Promise<string>>()
  readonly #images = new Map<string, Promise<Image>>()

  /** `text`: workspace.image; paths in it are relative to `folder`. Errors: USAGE, NOT_FOUND. */
  constructor(text: string, folder: string, context: Context) {
    this.ref = parseReference(text, folder)
    this.#context = context
    this.#source = this.ref.kind === 'registry' ? new Registry(this.ref, context) : openLayout(this.ref, context)
    this.#folder = join(userPaths(context.env).cache, 'images')
  }

  /** What the tag stands for now. Errors: those of the source. */
  async digest(): Promise<string> {
    if (this.ref.digest !== undefined) return this.ref.digest
    if (this.ref.kind !== 'registry') return digestInLayout(this.ref, this.#context)
    const {bytes} = await this.#source.manifest(this.ref.tag)
    const digest = digestOf(bytes)
    await this.#keep({digest, size: bytes.length, mediaType: ''}, bytes)
    return digest
  }

  /**
   * The image for a kind of machine (`uname -m`). `digest`: pinned. Errors: those of the source; NODE_UNFIT where it
   * has none for it.
   */
  image(digest: string, machine: string): Promise<Image> {
    const key = `${digest} ${machine}`
    const found = this.#images.get(key) ?? this.#read(digest, machine)
    this.#images.set(key, found)
    return found
  }

  async #read(digest: string, machine: string): Promise<Image> {
    const {text} = this.ref
    const listed = readManifest(await this.#document(digest), text)
    return this.manifest(
      digest,
      listed.kind === 'index' ? choosePlatform(listed.manifests, machine, text).digest : digest,
    )
  }

  /** The same by the digest of the manifest itself. */
  async manifest(digest: string, manifest: string): Promise<Image> {
    const {text} = this.ref
    const listed = readManifest(await this.#document(manifest), text)
    if (listed.kind === 'index') throw new CliError('REMOTE_FAILED', `${text} is an index of indexes`)
    if (listed.config.size > MOST_CONFIG_BYTES)
      throw new CliError('REMOTE_FAILED', `the configuration of ${text} has ${listed.config.size} bytes`)
    const config = await readFile(await this.fetch(listed.config, () => {}))
    return {ref: text, digest, manifest, ...imageOf(listed, config, text)}
  }

  /** A manifest by its digest, which is held against its bytes. */
  async #document(digest: string): Promise<Buffer> {
    const kept = await readFile(this.#place(digest)).catch(() => undefined)
    if (kept && digestOf(kept) === digest) return kept
    const {bytes} = await this.#source.manifest(digest)
    if (digestOf(bytes) !== digest)
      throw new CliError(
        'REMOTE_FAILED',
        `${this.ref.text}: the manifest ${digest} is damaged: its content has the digest ${digestOf(bytes)}`,
        {details: {digest}},
      )
    if (bytes.length > MOST_MANIFEST_BYTES)
      throw new CliError('REMOTE_FAILED', `${this.ref.text}: the manifest has ${bytes.length} bytes`)
    await this.#keep({digest, size: bytes.length, mediaType: ''}, bytes)
    return bytes
  }

  /** A blob on this machine, whole and checked: its path. Fetched once, whoever asks. */
  fetch(descriptor: Descriptor, tell: (bytes: number) => void): Promise<string> {
    const coming = this.#coming.get(descriptor.digest) ?? this.#fetch(descriptor, tell)
    this.#coming.set(descriptor.digest, coming)
    return coming
  }

  /** A layer's bytes, as they are packed. */
  async open(layer: Layer, tell: (bytes: number) => void): Promise<Readable> {
    return createReadStream(await this.fetch(layer, tell), {highWaterMark: 1 << 18})
  }

  async #fetch(descriptor: Descriptor, tell: (bytes: number) => void): Promise<string> {
    const here = this.#source.file?.(descriptor)
    if (here !== undefined) {
      await this.#checkFile(here, descriptor)
      return here
    }
    const place = this.#place(descriptor.digest)
    const size = await stat(place).then(
      (one) => one.size,
      () => undefined,
    )
    if (size === descriptor.size && `sha256:${await hashFile(place, this.#context.signal)}` === descriptor.digest)
      return place
    await this.#write(place, descriptor, await this.#source.blob(descriptor), tell)
    return place
  }

  async #checkFile(path: string, {digest, size}: Descriptor): Promise<void> {
    const found = await stat(path).catch(() => undefined)
    if (!found)
      throw new CliError('NOT_FOUND', `${this.ref.text} lacks the blob ${digest}`, {
        hint: 'copy the image there anew',
        details: {digest},
      })
    const is = found.size === size ? `sha256:${await hashFile(path, this.#context.signal)}` : undefined
    if (is !== digest)
      throw new CliError(
        'REMOTE_FAILED',
        `blob ${digest} is damaged: ${is === undefined ? `it has ${found.size} bytes instead of ${size}` : `its content has the digest ${is}`}`,
        {hint: 'nothing of it is used; pull or build the image anew', details: {digest}},
      )
  }

  async #write(place: string, descriptor: Descriptor, body: Readable, tell: (bytes: number) => void): Promise<void> {
    await ensurePrivateFolder(this.#folder)
    await mkdir(dirname(place), {recursive: true, mode: 0o700})
    const draft = `${place}.${randomId()}`
    try {
      await pipeline(body, new Checked(descriptor, tell), createWriteStream(draft, {mode: 0o600, flags: 'wx'}), {
        signal: this.#context.signal,
      })
      await rename(draft, place)
    } catch (error) {
      if (this.#context.signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
      throw error
    } finally {
      await rm(draft, {force: true})
    }
  }

  async #keep({digest}: Descriptor, bytes: Buffer): Promise<void> {
    const {Readable: Stream} = await import('node:stream')
    await this.#write(this.#place(digest), {digest, size: bytes.length, mediaType: ''}, Stream.from([bytes]), () => {})
  }

  #place(digest: string): string {
    return join(this.#folder, ...digest.split(':'))
  }
}

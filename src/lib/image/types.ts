import type {Readable} from 'node:stream'

/** `workspace.image`, taken apart. */
export type ImageReference =
  | {kind: 'registry'; text: string; host: string; name: string; tag: string; digest?: string}
  | {kind: 'layout' | 'archive'; text: string; path: string; tag?: string; digest?: string}

/** Something by its content, as manifests name it. */
export interface Descriptor {
  mediaType: string
  /** `sha256:` and 64 hex digits. */
  digest: string
  size: number
}

export interface Layer extends Descriptor {
  /** Digest of its tar, whatever it is packed with: by this nodes know it. */
  diffId: string
}

/** An image for one kind of machine. */
export interface Image {
  /** As it is written, without a digest. */
  ref: string
  /** What is pinned: of the manifest, or of the index that has one for each kind of machine. */
  digest: string
  /** Of the manifest. */
  manifest: string
  layers: Layer[]
  env: Record<string, string>
  user?: string
}

/** Where blobs come from. */
export interface BlobSource {
  /** Bytes of a manifest, and its media type. Errors: NOT_FOUND, REFUSED, REMOTE_FAILED. */
  manifest(reference: string): Promise<{bytes: Buffer; mediaType?: string}>
  /** A blob's bytes as they come, not yet checked. */
  blob(descriptor: Descriptor): Promise<Readable>
  /** The blob lies on this machine already. */
  file?(descriptor: Descriptor): string
}

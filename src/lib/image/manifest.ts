import {createHash} from 'node:crypto'
import {CliError} from '../base/index.ts'
import type {Descriptor, Image, Layer} from './types.ts'

/** Of OCI and of Docker; a manifest first, then what lists several. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
export const MOST_MANIFEST_BYTES = 4 << 20
export const MOST_CONFIG_BYTES = 16 << 20
const MOST_LAYER_BYTES = 256 * 1024 ** 3
const DIGEST = /^sha256:[0-9a-f]{64}$/
const LAYER = /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(?:[.+](gzip|zstd))?$/

/** As manifests call the machines that `uname -m` names. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  amd64: 'amd64',
  aarch64: 'arm64',
  arm64: 'arm64',
}

export type Listed =
  | {kind: 'index'; manifests: (Descriptor & {architecture?: string; tag?: string})[]}
  | {kind: 'manifest'; config: Descriptor; layers: Descriptor[]}

/** What a manifest or an index says; both are hostile until they are read whole. Errors: REMOTE_FAILED. */
export function readManifest(bytes: Buffer, what: string): Listed {
  const value = objectOf(bytes, what)
  if (Array.isArray(value.manifests)) {
    const manifests = value.manifests.map((one: unknown) => {
      const {platform, annotations} = one as {
        platform?: {os?: string; architecture?: string}
        annotations?: Record<string, string>
      }
      const isOther = platform?.os !== undefined && platform.os !== 'linux'
      return {
        ...descriptorOf(one, what),
        ...(platform?.architecture !== undefined && {
          architecture: isOther ? `${platform.os}/${platform.architecture}` : platform.architecture,
        }),
        ...(annotations?.['org.opencontainers.image.ref.name'] !== undefined && {
          tag: annotations['org.opencontainers.image.ref.name'],
        }),
      }
    })
    return {kind: 'index', manifests}
  }
  if (value.schemaVersion !== 2 || !Array.isArray(value.layers))
    throw new CliError('REMOTE_FAILED', `${what} is of a kind that is not known`, {
      hint: 'images of OCI, and of Docker since 1.10, are taken',
    })
  return {
    kind: 'manifest',
    config: descriptorOf(value.config, what),
    layers: value.layers.map((one: unknown) => descriptorOf(one, what)),
  }
}

/** The one for a kind of machine. Errors: NODE_UNFIT. */
export function choosePlatform(
  manifests: Extract<Listed, {kind: 'index'}>['manifests'],
  machine: string,
  what: string,
): Descriptor {
  const wanted = ARCHITECTURES[machine] ?? machine
  const found =
    manifests.find((one) => one.architecture === wanted) ??
    (manifests.length === 1 && manifests[0]?.architecture === undefined ? manifests[0] : undefined)
  if (found) return found
  const has = manifests.map((one) => one.architecture ?? 'unknown').filter((one) => one !== 'unknown')
  throw new CliError(
    'NODE_UNFIT',
    `${what} has nothing for ${machine}: it is for ${[...new Set(has)].join(', ') || 'nobody'}`,
    {hint: 'take an image that has it'},
  )
}

/** A manifest and its configuration as an image. Errors: REMOTE_FAILED. */
export function imageOf(
  {layers}: Extract<Listed, {kind: 'manifest'}>,
  config: Buffer,
  what: string,
): Pick<Image, 'layers' | 'env' | 'user'> {
  const value = objectOf(config, `the configuration of ${what}`) as {
    rootfs?: {diff_ids?: unknown}
    config?: {Env?: unknown; User?: unknown}
    architecture?: unknown
  }
  const ids = value.rootfs?.diff_ids
  if (
    !Array.isArray(ids) ||
    ids.length !== layers.length ||
    !ids.every((one) => typeof one === 'string' && DIGEST.test(one))
  ) {
    throw new CliError('REMOTE_FAILED', `the configuration of ${what} does not belong to its ${layers.length} layers`)
  }
  const pairs = (Array.isArray(value.config?.Env) ? (value.config.Env as unknown[]) : []).filter(
    (one): one is string => typeof one === 'string' && /^[A-Za-z_][A-Za-z0-9_]*=[^\0]*$/s.test(one),
  )
  const user = value.config?.User
  return {
    layers: layers.map((one, index): Layer => ({...one, diffId: ids[index] as string})),
    env: Object.fromEntries(pairs.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)])),
    ...(typeof user === 'string' && user !== '' && {user}),
  }
}

/** What a layer is packed with. Errors: REMOTE_FAILED for what is no layer. */
export function packingOf({mediaType, digest}: Descriptor): 'gzip' | 'zstd' | 'none' {
  const found = LAYER.exec(mediaType)
  if (!found)
    throw new CliError('REMOTE_FAILED', `layer ${digest} is of a kind that is not known: ${mediaType}`, {
      hint: 'layers of Windows, and those that lie elsewhere, cannot be used',
    })
  return (found[1] as 'gzip' | 'zstd' | undefined) ?? 'none'
}

export const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

function objectOf(bytes: Buffer, what: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch (cause) {
    throw new CliError('REMOTE_FAILED', `${what} is not JSON`, {cause})
  }
  if (typeof value !== 'object' || value === null) throw new CliError('REMOTE_FAILED', `${what} is not an object`)
  return value as Record<string, unknown>
}

function descriptorOf(value: unknown, what: string): Descriptor {
  const {mediaType, digest, size} = (value ?? {}) as {mediaType?: unknown; digest?: unknown; size?: unknown}
  if (typeof digest !== 'string' || !DIGEST.test(digest))
    throw new CliError('REMOTE_FAILED', `${what} names something by what is no SHA-256 digest`)
  if (!Number.isSafeInteger(size) || (size as number) < 0 || (size as number) > MOST_LAYER_BYTES)
    throw new CliError('REMOTE_FAILED', `${what} says that ${digest} has ${String(size)} bytes`)
  return {mediaType: typeof mediaType === 'string' ? mediaType : '', digest, size: size as number}
}

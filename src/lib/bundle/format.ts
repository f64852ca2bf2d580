import {open} from 'node:fs/promises'
import {CliError} from '../base/index.ts'

/** Of the shape of a bundle; a reader refuses a higher one. 1 had no Pythons, 2 no restic. */
export const FORMAT = 3
export const MANIFEST = 'manifest.json'
/**
 * wheels/: packages; uv/: what builds environments; restic/: what saves workspaces; pythons/: archives that it
 * installs; program/: flexrack itself.
 */
const PATH = /^(wheels|uv|restic|pythons|program)\/[A-Za-z0-9_][A-Za-z0-9._+!-]*$/
const MANIFEST_BYTES = 16 << 20

export interface BundledFile {
  path: string
  size: number
  sha256: string
}

/** What a bundle is for. */
export interface BundledContent {
  /** program, uv, restic, python, head, sweep, endpoint:onnx, project:digits */
  name: string
  /** Of the nodes, as in the names of wheels. */
  machine?: string
  /** Version of Python there. */
  python?: string
}

/** The first file of a bundle, a tar file. */
export interface BundleManifest {
  format: number
  /** Version of flexrack. */
  flexrack: string
  made_at: string
  contents: BundledContent[]
  files: BundledFile[]
}

/** Reads the manifest alone. Errors: NOT_FOUND, USAGE for what is no bundle, NEWER_VERSION. */
export async function readManifest(file: string): Promise<BundleManifest> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new CliError('NOT_FOUND', `there is no file ${file}`)
    throw error
  })
  try {
    const header = Buffer.alloc(512)
    await handle.read(header, 0, 512, 0)
    const name = header.toString('latin1', 0, 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(header.toString('latin1', 124, 136), 8)
    if (name !== MANIFEST || !(size > 0 && size <= MANIFEST_BYTES)) throw notABundle(file)
    const text = Buffer.alloc(size)
    await handle.read(text, 0, size, 512)
    return parseManifest(file, text.toString())
  } finally {
    await handle.close()
  }
}

export function parseManifest(file: string, text: string): BundleManifest {
  let value: BundleManifest
  try {
    value = JSON.parse(text) as BundleManifest
  } catch {
    throw new CliError('CONFLICT', `${file} is damaged: its ${MANIFEST} cannot be read`, {
      hint: 'copy the file again',
      details: {file: MANIFEST},
    })
  }
  if (typeof value?.format !== 'number') throw notABundle(file)
  if (value.format > FORMAT)
    throw new CliError(
      'NEWER_VERSION',
      `${file} was made by a newer flexrack (${value.flexrack}), as a bundle of format ${value.format}; this one reads ${FORMAT}`,
      {hint: 'upgrade flexrack', details: {file}},
    )
  const strange = value.files.find(
    ({path, size, sha256}) => !PATH.test(path) || !Number.isSafeInteger(size) || !/^[0-9a-f]{64}$/.test(sha256),
  )
  if (strange)
    throw new CliError('CONFLICT', `${file} names a file that no bundle has: ${JSON.stringify(strange.path)}`, {
      details: {file: strange.path},
    })
  return value
}

const notABundle = (file: string): CliError =>
  new CliError('USAGE', `${file} is not a bundle of flexrack`, {hint: 'flexrack bundle create --to FILE'})

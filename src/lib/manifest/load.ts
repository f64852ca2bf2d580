import {existsSync} from 'node:fs'
import {stat} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {CliError} from '../base/index.ts'
import {problemsError, readSource, validateSource, type Path, type Source} from '../document/index.ts'
import type {ManifestFile, manifestSchema as Schema} from './schema.ts'
import type {Manifest} from './types.ts'

export const MANIFEST_FILE = 'flexrack.yaml'

type ManifestSections = Pick<(typeof Schema)['shape'], 'workspace' | 'train' | 'sweep' | 'endpoints'>

/** A valid manifest and the file it came from, to point at places in it later. */
export interface LocatedManifest {
  manifest: Manifest
  source: Source
}

/**
 * The manifest of a folder (or the nearest folder above it that has one), or of a manifest file. Throws
 * MANIFEST_MISSING, or MANIFEST_INVALID with details.problems.
 */
export async function loadManifest(pathOrFolder: string): Promise<Manifest> {
  return (await readManifest(pathOrFolder)).manifest
}

/** Like loadManifest, and gives the source along. */
export async function readManifest(pathOrFolder: string): Promise<LocatedManifest> {
  const file = await manifestFile(resolve(pathOrFolder))
  // zod and yaml are loaded only here: most commands start without a manifest.
  const [{manifestSchema}, {checkSections, resolveManifest}] = await Promise.all([
    import('./schema.ts'),
    import('./resolve.ts'),
  ])
  const source = await readSource(file, {asText: isTakenAsWritten})
  const {value, problems} = validateSource(source, manifestSchema)
  const sections = value ?? validSections(source.value, manifestSchema.shape)
  problems.push(...(await checkSections(source, sections)))
  if (!value || problems.length > 0) throw problemsError('MANIFEST_INVALID', file, problems)
  return {manifest: resolveManifest(source, value), source}
}

/** The sections that are valid although the whole is not: so that all that is wrong is said at once. */
function validSections(
  value: unknown,
  {workspace, train, sweep, endpoints}: ManifestSections,
): Partial<Pick<ManifestFile, 'workspace' | 'train' | 'sweep' | 'endpoints'>> {
  const given =
    typeof value === 'object' && value !== null
      ? (value as {workspace?: unknown; train?: unknown; sweep?: unknown; endpoints?: unknown})
      : {}
  return {
    workspace: workspace.safeParse(given.workspace).data,
    train: train.safeParse(given.train).data,
    sweep: sweep.safeParse(given.sweep).data,
    endpoints: endpoints.safeParse(given.endpoints).data,
  }
}

/** Path of the manifest of a folder or of the nearest folder above it; undefined if there is none. */
export function findManifest(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, MANIFEST_FILE)
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return undefined
  }
}

async function manifestFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found && !found.isDirectory()) return path
  const file = found ? findManifest(path) : undefined
  if (file) return file
  const other = join(path, 'flexrack.yml')
  const hint = existsSync(other) ? `mv ${other} ${join(path, MANIFEST_FILE)}` : 'flexrack init'
  throw new CliError(
    'MANIFEST_MISSING',
    found ? `no ${MANIFEST_FILE} in ${path} or a folder above it` : `${path} does not exist`,
    {hint, details: {path}},
  )
}

/** Where a number is a text all the same: `name: 2048`, `THREADS: 4`, an argument of a command. */
function isTakenAsWritten(path: Path): boolean {
  const dotted = path.join('.')
  return (
    dotted === 'name' ||
    dotted === 'tracking.experiment' ||
    path.at(-2) === 'env' ||
    (path.at(-1) === 'memory' && path.at(-2) === 'gpus') ||
    (path.at(-2) === 'command' && path.length === 3)
  )
}

import {parse} from 'smol-toml'
import {CliError} from '../base/index.ts'

/** Beside pyproject.toml: what uv has locked. */
export const UV_LOCK = 'uv.lock'

/** A dependency as the lock file writes it. */
interface Edge {
  name: string
  version?: string
  marker?: string
  extra?: string[]
}

interface Package {
  name: string
  version?: string
  source: {
    registry?: string
    git?: string
    url?: string
    path?: string
    directory?: string
    editable?: string
    virtual?: string
  }
  dependencies?: Edge[]
  'optional-dependencies'?: Record<string, Edge[]>
  'dev-dependencies'?: Record<string, Edge[]>
  metadata?: {'requires-dist'?: {name: string; specifier?: string}[]}
  sdist?: {hash?: string}
  wheels?: {hash?: string}[]
}

/** What a project requires, as far as both files tell it alike: normalised names and specifiers. */
export type Required = {name: string; specifier: string}

export interface UvLock {
  /** Of the project whose pyproject.toml lies beside the lock file, with all of its extras. */
  required: Required[]
  /**
   * Requirements with hashes, and where each line comes from. Errors: CHECK_FAILED for what no other machine can
   * install.
   */
  export(extras: string[], groups: string[]): {lines: {text: string; origin: string}[]; warnings: string[]}
}

/** A way to a package: all of these markers must hold. */
type Path = readonly string[]

const PYPI = 'https://pypi.org/simple'
/** Beyond so many ways to one package the lock file is not one that people make. */
const MOST_PATHS = 64

/**
 * `text` of a uv.lock (its version 1, https://docs.astral.sh/uv/concepts/resolution/#lockfile-versioning). Errors:
 * CHECK_FAILED.
 */
export function parseUvLock(text: string, file: string): UvLock {
  const {version, package: packages = []} = parseToml(text, file) as {version?: number; package?: Package[]}
  if (version !== 1)
    throw new CliError('CHECK_FAILED', `${file} has version ${String(version)}, and this flexrack reads version 1`, {
      hint: 'npm install -g flexrack',
      details: {file},
    })
  const root = packages.find(({source}) => [source.virtual, source.editable, source.directory].includes('.'))
  if (!root)
    throw new CliError('CHECK_FAILED', `${file} does not say which package is the project beside it`, {
      hint: 'uv lock',
      details: {file},
    })
  return {
    required: (root.metadata?.['requires-dist'] ?? []).map(({name, specifier = ''}) => ({
      name: normalName(name),
      specifier: normalSpecifier(specifier),
    })),
    export: (extras, groups) => exported(packages, root, {extras, groups}, text, file),
  }
}

export function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text) as Record<string, unknown>
  } catch (cause) {
    throw new CliError('CHECK_FAILED', `${file} is no TOML: ${(cause as Error).message.split('\n', 1)[0]}`, {
      details: {file},
      cause,
    })
  }
}

/** As PEP 503 compares names. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-')
}

export function normalSpecifier(specifier: string): string {
  return specifier.replaceAll(/\s+/g, '').split(',').filter(Boolean).sort().join(',')
}

function exported(
  packages: Package[],
  root: Package,
  chosen: {extras: string[]; groups: string[]},
  text: string,
  file: string,
): ReturnType<UvLock['export']> {
  const found = reach(packages, root, chosen, file)
  const wanted = packages
    .filter((one) => one !== root && found.has(one))
    .map((one) => ({one, paths: found.get(one) as Path[]}))
  const unhashed = wanted.filter(({one}) => hashesOf(one).length === 0)
  const lines = wanted.flatMap(({one, paths}) => {
    const line = `${reference(one, file)}${markerOf(paths)}`
    const origin = `${file}:${lineOf(text, one)}`
    const hashes = unhashed.length > 0 ? [] : hashesOf(one)
    return [line, ...hashes.map((hash) => `    --hash=${hash}`)].map((part, index, all) => ({
      text: index < all.length - 1 ? `${part} \\` : part,
      origin,
    }))
  })
  const indexes = [
    ...new Set(
      wanted.flatMap(({one}) =>
        one.source.registry === undefined || one.source.registry === PYPI ? [] : [one.source.registry],
      ),
    ),
  ]
  const warnings =
    unhashed.length > 0
      ? [
          `${file} has no hashes of ${unhashed.map(({one}) => one.name).join(', ')}: pip's rule is hashes for all or for none, so versions are those of the lock file and hashes are not compared`,
        ]
      : []
  return {lines: [...indexes.map((url) => ({text: `--extra-index-url ${url}`, origin: file})), ...lines], warnings}
}

/**
 * Every package that is required somewhere, with the ways to it; one that is always required has the way of no markers
 * alone.
 */
function reach(
  packages: Package[],
  root: Package,
  {extras, groups}: {extras: string[]; groups: string[]},
  file: string,
): Map<Package, Path[]> {
  const byName = new Map<string, Package[]>()
  for (const one of packages) byName.set(one.name, [...(byName.get(one.name) ?? []), one])
  const found = new Map<Package, Path[]>()
  const seen = new Map<string, Path[]>() // by package and extra
  const open: {at: Package; extra: string; path: Path}[] = []
  const visit = (at: Package, extra: string, path: Path): void => {
    const key = `${at.name} ${at.version ?? ''} ${extra}`
    const before = seen.get(key) ?? []
    if (before.some((one) => one.every((marker) => path.includes(marker)))) return
    const after = [...before.filter((one) => !path.every((marker) => one.includes(marker))), path]
    if (after.length > MOST_PATHS)
      throw new CliError('CHECK_FAILED', `${file}: there are more than ${MOST_PATHS} ways to ${at.name}`, {
        hint: 'uv export --frozen --no-emit-project -o requirements.txt, and workspace: {python: requirements.txt}',
        details: {file},
      })
    seen.set(key, after)
    if (extra === '') found.set(at, after)
    open.push({at, extra, path})
  }
  const follow = (edges: Edge[], path: Path): void => {
    for (const {name, version, marker, extra = []} of edges) {
      if (marker !== undefined && /\bextra\s*==/.test(marker))
        throw new CliError(
          'CHECK_FAILED',
          `${file}: ${name} depends on conflicting extras or groups of the project, which is not read`,
          {
            hint: 'uv export --frozen --no-emit-project -o requirements.txt, and workspace: {python: requirements.txt}',
            details: {file},
          },
        )
      const next = marker === undefined || path.includes(marker) ? path : [...path, marker].sort()
      for (const target of byName.get(name) ?? []) {
        if (version !== undefined && target.version !== version) continue
        visit(target, '', next)
        for (const one of extra) visit(target, one, next)
      }
    }
  }
  follow(
    [
      ...(root.dependencies ?? []),
      ...extras.flatMap((name) => root['optional-dependencies']?.[name] ?? []),
      ...groups.flatMap((name) => root['dev-dependencies']?.[name] ?? []),
    ],
    [],
  )
  for (let next = open.pop(); next; next = open.pop())
    follow((next.extra === '' ? next.at.dependencies : next.at['optional-dependencies']?.[next.extra]) ?? [], next.path)
  return found
}

function markerOf(paths: Path[]): string {
  if (paths.some((path) => path.length === 0)) return ''
  const all = paths.map((path) =>
    path.map((marker) => (path.length > 1 && / or /.test(marker) ? `(${marker})` : marker)).join(' and '),
  )
  return ` ; ${all.length === 1 ? all[0] : all.map((one) => `(${one})`).join(' or ')}`
}

function reference({name, version, source}: Package, file: string): string {
  if (source.registry !== undefined && /^https?:/.test(source.registry)) return `${name}==${version}`
  if (source.url !== undefined) return `${name} @ ${source.url}`
  // uv writes the commit behind #, and what was asked for, such as a branch, in the query.
  if (source.git !== undefined) return `${name} @ git+${source.git.replace(/\?[^#]*/, '').replace('#', '@')}`
  const place = source.registry ?? source.path ?? source.directory ?? source.editable ?? source.virtual ?? 'nowhere'
  throw fromFolder(file, name, place, {file})
}

/** A package that only this machine has. `at`: the file, or file and line, that names it. */
export function fromFolder(at: string, name: string, place: string, details: Record<string, string>): CliError {
  return new CliError(
    'CHECK_FAILED',
    `${at}: ${name} comes from ${place}, a folder of this machine, which an environment on a node cannot contain`,
    {
      hint: 'publish it to a package index, or import it from the code folder and take it out of the dependencies',
      details: {...details, requirement: name},
    },
  )
}

function hashesOf({source, sdist, wheels = []}: Package): string[] {
  if (source.git !== undefined) return []
  return [...(sdist ? [sdist] : []), ...wheels].flatMap(({hash}) => (hash === undefined ? [] : [hash]))
}

function lineOf(text: string, {name, version}: Package): number {
  const at = text.indexOf(`[[package]]\nname = "${name}"\n${version === undefined ? '' : `version = "${version}"\n`}`)
  return at === -1 ? 1 : text.slice(0, at).split('\n').length + 1
}

import {CliError} from '../base/index.ts'
import {fromFolder, normalName, normalSpecifier, parseToml, type Required} from './uv-lock.ts'

/** `pyproject.toml`, or `pyproject.toml[plot,dev]` with extras and dependency groups of it. */
const NAMED = /^((?:.*\/)?pyproject\.toml)(?:\[([^\]]*)\])?$/

export interface NamedProject {
  file: string
  /** Extras and dependency groups, as they were written. */
  chosen: string[]
}

/** Undefined where `workspace.python` names another kind of file. */
export function namedProject(python: string): NamedProject | undefined {
  const found = NAMED.exec(python)
  return found
    ? {
        file: found[1] as string,
        chosen: (found[2] ?? '')
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean),
      }
    : undefined
}

interface Source {
  index?: string
  git?: string
  rev?: string
  tag?: string
  branch?: string
  url?: string
  path?: string
  workspace?: boolean
}

interface Pyproject {
  project?: {
    name?: string
    dependencies?: string[]
    'optional-dependencies'?: Record<string, string[]>
    dynamic?: string[]
  }
  'dependency-groups'?: Record<string, (string | {'include-group': string})[]>
  tool?: {
    uv?: {sources?: Record<string, Source | Source[]>; index?: {name?: string; url: string}[]}
    poetry?: {dependencies?: object}
  }
}

/**
 * What a pyproject.toml says: https://packaging.python.org/en/latest/specifications/pyproject-toml/, and of uv its
 * sources and indexes.
 */
export interface ProjectRequirements {
  lines: {text: string; origin: string}[]
  extras: string[]
  groups: string[]
  /** Of the project with all of its extras, to be held against a lock file. */
  required: Required[]
}

/**
 * Reads the requirements of a pyproject.toml. Errors: CHECK_FAILED for what is no TOML, has no list of dependencies,
 * names folders of this machine, or extras that are not there.
 */
export function readPyproject(text: string, {file, chosen}: NamedProject): ProjectRequirements {
  const {project, 'dependency-groups': groupTable = {}, tool = {}} = parseToml(text, file) as Pyproject
  if (!project || project.dynamic?.includes('dependencies'))
    throw noDependencies(file, project, tool.poetry !== undefined)
  const {dependencies = [], 'optional-dependencies': optional = {}} = project
  const [extras, groups] = [
    chosen.filter((name) => name in optional),
    chosen.filter((name) => !(name in optional) && name in groupTable),
  ]
  const unknown = chosen.find((name) => !(name in optional) && !(name in groupTable))
  if (unknown !== undefined) {
    throw new CliError('CHECK_FAILED', `${file} has neither an extra nor a dependency group ${unknown}`, {
      details: {file, known: [...Object.keys(optional), ...Object.keys(groupTable)]},
      hint: 'correct workspace.python in flexrack.yaml',
    })
  }
  const ofExtra = (name: string, above: string[] = []): string[] =>
    above.includes(name)
      ? []
      : (optional[name] ?? []).flatMap((one) => {
          const {name: other, extras: words} = partsOf(one)
          return project.name !== undefined && normalName(other) === normalName(project.name)
            ? words
                .slice(1, -1)
                .split(',')
                .flatMap((word) => ofExtra(word.trim(), [...above, name]))
            : [one]
        })
  const wanted = [
    ...dependencies,
    ...extras.flatMap((name) => ofExtra(name)),
    ...groups.flatMap((name) => groupOf(groupTable, name, file, [])),
  ]
  const indexes = (tool.uv?.index ?? []).map(({url}) => ({
    text: `--extra-index-url ${url}`,
    origin: `${file}:${lineOf(text, url)}`,
  }))
  const lines = [...new Set(wanted)].map((one) => {
    const origin = `${file}:${lineOf(text, one)}`
    return {text: placed(one, tool.uv?.sources ?? {}, origin), origin}
  })
  return {
    lines: [...indexes, ...lines],
    extras,
    groups,
    required: [...dependencies, ...Object.values(optional).flat()].map(requiredOf),
  }
}

function noDependencies(file: string, project: Pyproject['project'], isPoetry: boolean): CliError {
  const why = isPoetry
    ? "Poetry's own table, and no [project]"
    : project
      ? 'dependencies that its build backend makes (dynamic)'
      : 'no [project] table'
  return new CliError('CHECK_FAILED', `${file} has ${why}: which packages the project needs cannot be read from it`, {
    hint: isPoetry
      ? 'poetry export -o requirements.txt, and workspace: {python: requirements.txt}'
      : 'list them under [project] dependencies, or name a requirements file in workspace.python',
    details: {file},
  })
}

function groupOf(
  table: NonNullable<Pyproject['dependency-groups']>,
  name: string,
  file: string,
  above: string[],
): string[] {
  if (above.includes(name))
    throw new CliError('CHECK_FAILED', `${file}: the dependency group ${name} includes itself`, {details: {file}})
  if (!(name in table))
    throw new CliError(
      'CHECK_FAILED',
      `${file}: the dependency group ${above.at(-1)} includes ${name}, which is not there`,
      {details: {file}},
    )
  return (table[name] ?? []).flatMap((one) =>
    typeof one === 'string' ? [one] : groupOf(table, one['include-group'], file, [...above, name]),
  )
}

/** A requirement by PEP 508, in its parts: name, extras, specifier or address, marker. */
function partsOf(requirement: string): {name: string; extras: string; specifier: string; marker: string} {
  const [, name = '', extras = '', rest = ''] = /^\s*([A-Za-z0-9._-]+)\s*(\[[^\]]*\])?\s*(.*)$/s.exec(requirement) ?? []
  const at = rest.startsWith('@') ? rest.search(/\s;/) : rest.indexOf(';')
  const [specifier, marker] = at === -1 ? [rest, ''] : [rest.slice(0, at), rest.slice(rest.indexOf(';', at) + 1)]
  return {name, extras, specifier: specifier.trim().replace(/^\((.*)\)$/, '$1'), marker: marker.trim()}
}

function requiredOf(requirement: string): Required {
  const {name, specifier} = partsOf(requirement)
  return {name: normalName(name), specifier: specifier.startsWith('@') ? '' : normalSpecifier(specifier)}
}

/** A requirement with what [tool.uv.sources] says of its name. */
function placed(requirement: string, sources: Record<string, Source | Source[]>, origin: string): string {
  const {name, extras, marker} = partsOf(requirement)
  const source = Object.entries(sources).find(([key]) => normalName(key) === normalName(name))?.[1]
  if (source === undefined) return requirement.trim()
  if (Array.isArray(source))
    throw new CliError('CHECK_FAILED', `${origin}: ${name} has several sources, which only a lock file decides`, {
      hint: 'uv lock',
      details: {origin},
    })
  if (source.index !== undefined) return requirement.trim()
  const revision = source.rev ?? source.tag ?? source.branch
  const address =
    source.git === undefined ? source.url : `git+${source.git}${revision === undefined ? '' : `@${revision}`}`
  if (address === undefined)
    throw fromFolder(origin, name, source.path ?? 'another package of this workspace', {origin})
  return `${name}${extras} @ ${address}${marker === '' ? '' : ` ; ${marker}`}`
}

/** Line, from 1, where a string stands in quotes. */
function lineOf(text: string, value: string): number {
  const at = Math.max(text.indexOf(`"${value}"`), text.indexOf(`'${value}'`))
  return at === -1 ? 1 : text.slice(0, at).split('\n').length
}

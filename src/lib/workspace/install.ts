import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join, posix} from 'node:path'
import type {ProjectToInstall} from '../protocol/index.ts'
import {namedProject} from './pyproject.ts'
import type {Snapshot} from './snapshot.ts'
import {normalName, parseToml} from './uv-lock.ts'

interface Installable {
  project?: {name?: string; scripts?: object; 'gui-scripts'?: object; 'entry-points'?: object}
  'build-system'?: object
}

/** What says how a project is installed. */
const DECIDING = ['pyproject.toml', 'setup.py', 'setup.cfg']

/**
 * What build systems compile, or are told by: C, C++, CUDA, Objective-C, Cython, Rust, Fortran, assembler, SWIG; CMake,
 * Meson, Cargo, make, and programs of Hatch and Poetry.
 */
const COMPILED =
  /\.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|inl|m|mm|pyx|pxd|pxi|rs|f|for|f77|f90|f95|f03|f08|pyf|s|S|asm|i|cmake)$/
const BUILD_FILES = new Set([
  'CMakeLists.txt',
  'meson.build',
  'meson.options',
  'meson_options.txt',
  'Cargo.toml',
  'Cargo.lock',
  'Makefile',
  'build.py',
  'hatch_build.py',
  'MANIFEST.in',
])

/**
 * The project itself, where it is to be installed: its pyproject.toml, named by `workspace.python`, has a build system
 * or programs. As it is installed editable, its code is that of the last sync; anew it is installed only where these
 * files, what is compiled, or the names of its packages, are others.
 */
export async function installOf(
  workspace: string,
  {folder, entries}: Snapshot,
  python: string | undefined,
): Promise<ProjectToInstall | undefined> {
  const named = python === undefined ? undefined : namedProject(python)
  if (!named || !entries.has(named.file)) return undefined
  const parsed = parseToml(await readFile(join(folder, named.file), 'utf8'), named.file) as Installable
  const {project, 'build-system': buildSystem} = parsed
  if (
    project?.name === undefined ||
    (!buildSystem && !project.scripts && !project['gui-scripts'] && !project['entry-points'])
  )
    return undefined
  const base = posix.dirname(named.file)
  const files = DECIDING.map((name) => entries.get(posix.join(base, name))?.digest ?? '')
  const compiled = buildSystem ? compiledIn(entries, base) : []
  const digest = createHash('sha256')
    .update(
      JSON.stringify([...files, ...topNames([...entries.keys()], base), ...(compiled.length > 0 ? [compiled] : [])]),
    )
    .digest('hex')
    .slice(0, 16)
  return {workspace, name: normalName(project.name), folder: base, digest}
}

/** Sources of extension modules, and how they are built, each with its content: an editable install compiles once. */
function compiledIn(entries: Snapshot['entries'], base: string): string[][] {
  const found = [...entries].filter(
    ([path]) =>
      (base === '.' || path.startsWith(`${base}/`)) && (COMPILED.test(path) || BUILD_FILES.has(posix.basename(path))),
  )
  return found.map(([path, {digest}]) => [path, digest]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
}

/** Names at the top of a project and of its src folder that Python could import. */
function topNames(paths: string[], base: string): string[] {
  const within =
    base === '.' ? paths : paths.flatMap((path) => (path.startsWith(`${base}/`) ? [path.slice(base.length + 1)] : []))
  const modules = within.filter((path) => path.endsWith('.py'))
  return [
    ...new Set(
      modules.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('src/') ? 2 : 1)
          .join('/'),
      ),
    ),
  ].sort()
}

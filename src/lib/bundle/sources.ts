import {CliError, LOCKED_PYTHON, readPythonLocks} from '../base/index.ts'
import {loadRecipe, worksWith, type Recipe} from '../recipe/index.ts'
import {PROJECT_LOCK, ProjectFiles} from '../workspace/index.ts'

/**
 * What an environment is made from; a project's may hold the password of an index, so its text is read when it is
 * needed.
 */
export type WheelSource =
  | {kind: 'locks'; name: string; locks: string[]}
  | {kind: 'runtime'; name: string; runtime: string}
  | {kind: 'project'; name: string; folder: string; requirements: string | null; python?: string}

/** Text of pins with hashes. Errors: CHECK_FAILED for a project without a lock file, those of reading it. */
export async function lockOf(source: WheelSource, env: NodeJS.ProcessEnv): Promise<string> {
  if (source.kind === 'locks') return readPythonLocks(source.locks)
  if (source.kind === 'runtime') return (await loadRecipe(source.runtime, env)).requirements
  const {requirements} = await new ProjectFiles().requirements(source.folder, source.requirements, source.python)
  if (requirements.trim() !== '' && !PROJECT_LOCK.hasHashes(requirements)) {
    throw new CliError(
      'CHECK_FAILED',
      `${source.requirements} has no lock file, and a bundle needs to know the exact files`,
      {hint: 'flexrack lock'},
    )
  }
  return requirements
}

/**
 * Above the lowest of a range without an end: what packages have had time to be made for. As the node program chooses
 * (workspace/pythons.py).
 */
const SETTLED = 2

/** The versions of Python that an environment may be made from; undefined: any. */
async function wishOf(source: WheelSource, env: NodeJS.ProcessEnv): Promise<Recipe['python'] | undefined> {
  if (source.kind === 'runtime') return (await loadRecipe(source.runtime, env)).python
  if (source.kind === 'locks') return {atLeast: LOCKED_PYTHON.replace('>=', ''), below: undefined}
  return source.python === undefined ? undefined : {atLeast: source.python, below: minor(source.python, 1)}
}

/** Under which it may be installed: of those that nodes have, and of those that uv brings. */
export async function versionsFor(
  source: WheelSource,
  pythons: string[],
  brought: string[],
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const wish = await wishOf(source, env)
  return wish === undefined
    ? pythons
    : [...new Set([...pythons, ...brought])].filter((python) => worksWith(wish, python))
}

/** The Python that a node has uv install, if it has one of these and it does not suit; undefined where all do. */
export async function broughtFor(
  source: WheelSource,
  pythons: string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const wish = await wishOf(source, env)
  if (wish === undefined || pythons.every((python) => worksWith(wish, python))) return undefined
  return wish.below === undefined ? minor(wish.atLeast, SETTLED) : minor(wish.below, -1)
}

const minor = (version: string, by: number): string => `3.${Number(version.split('.')[1]) + by}`

import {CliError, readPythonLocks} from '../base/index.ts'
import {loadRecipe, worksWith} from '../recipe/index.ts'
import {PROJECT_LOCK, ProjectFiles} from '../workspace/index.ts'

/** What an environment is made from; a project's may hold the password of an index, so its text is read when it is needed. */
export type WheelSource =
  | {kind: 'locks'; name: string; locks: string[]}
  | {kind: 'runtime'; name: string; runtime: string}
  | {kind: 'project'; name: string; folder: string; requirements: string}

/** Text of pins with hashes. Errors: CHECK_FAILED for a project without a lock file, those of reading it. */
export async function lockOf(source: WheelSource, env: NodeJS.ProcessEnv): Promise<string> {
  if (source.kind === 'locks') return readPythonLocks(source.locks)
  if (source.kind === 'runtime') return (await loadRecipe(source.runtime, env)).requirements
  const {requirements} = await new ProjectFiles().requirements(source.folder, source.requirements)
  if (requirements.trim() !== '' && !PROJECT_LOCK.hasHashes(requirements)) {
    throw new CliError('CHECK_FAILED', `${source.requirements} has no lock file, and a bundle needs to know the exact files`, {hint: 'flexrack lock'})
  }
  return requirements
}

/** Whether a runtime works with a Python, 3.11. */
export async function suits(source: WheelSource, python: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (source.kind !== 'runtime') return true
  return worksWith((await loadRecipe(source.runtime, env)).python, python)
}

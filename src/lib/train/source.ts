import {execFile} from 'node:child_process'
import {promisify} from 'node:util'

const run = promisify(execFile)

/** Where the code comes from, as far as git knows. */
export interface Source {
  commit?: string
  branch?: string
  /** Files that differ from the commit, untracked ones included. */
  changed: string[]
  /** `git diff HEAD`, binary files included; empty where nothing differs. */
  diff: string
}

/** What git tells of a folder; nothing changed and no commit where it is no repository, or git is not there. */
export async function readSource(folder: string, signal?: AbortSignal): Promise<Source> {
  const git = async (...words: string[]): Promise<string> => {
    const {stdout} = await run('git', ['--no-optional-locks', '-C', folder, ...words], {
      maxBuffer: 64 * 1024 * 1024,
      ...(signal && {signal}),
    })
    return stdout
  }
  try {
    const commit = (await git('rev-parse', 'HEAD')).trim()
    const [branch, status, diff] = await Promise.all([
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('status', '--porcelain=v1', '-z', '--untracked-files=normal', '--', '.'),
      git('diff', '--binary', 'HEAD', '--', '.'),
    ])
    return {
      commit,
      branch: branch.trim(),
      changed: status
        .split('\0')
        .filter((line) => line.length > 3)
        .map((line) => line.slice(3)),
      diff,
    }
  } catch {
    return {changed: [], diff: ''}
  }
}

import {existsSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'

/**
 * The text of lock files of ours (locks/NAME.txt, made by `npm run locks`), one after the other: exact versions with
 * the hashes of every file, for every platform and Python, as `pip install --require-hashes` takes them. Of a package
 * that several of them name, the first counts: all have the same version.
 */
export function readPythonLocks(names: string[]): string {
  const seen = new Set<string>()
  const blocks = names.flatMap((name) =>
    readFileSync(join(ownFolder(import.meta.dirname), `${name}.txt`), 'utf8')
      .split(/\n(?=[A-Za-z0-9])/)
      .slice(1),
  )
  const first = blocks
    .map((block) => block.trimEnd())
    .filter((block) => {
      const pin = block.split(/\s\\?\n?/, 1)[0] as string
      return !seen.has(pin) && seen.add(pin)
    })
  return `${first.join('\n')}\n`
}

/** The Pythons that the locks of the head and of sweeps are for: `# python:` in their .in files. */
export const LOCKED_PYTHON = '>=3.10'

/** The same versions without their hashes: pip takes either all with, or all without. */
export function withoutHashes(lock: string): string {
  return lock.replaceAll(/ \\\n +--hash=\S+/g, '').replaceAll(/\n +--hash=\S+/g, '')
}

/** `name==version` of some packages of a lock, or of any requirements, for people. */
export function pinsOf(requirements: string, names: string[]): string[] {
  return requirements
    .split('\n')
    .flatMap((line) =>
      names.find((name) => line.startsWith(`${name}==`)) ? [line.split(/[ ;\\]/, 1)[0] as string] : [],
    )
}

/** Looks upwards from here: it is at the same place for src, dist and an installed package. */
function ownFolder(from: string): string {
  const folder = join(from, 'locks')
  if (existsSync(join(folder, 'head.txt'))) return folder
  if (dirname(from) === from) throw new Error('locks/ is missing from this installation of flexrack')
  return ownFolder(dirname(from))
}

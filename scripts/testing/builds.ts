import {spawn} from 'node:child_process'
import {closeSync, openSync} from 'node:fs'
import {mkdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {Counts} from './counts.ts'
import {countPython} from './python.ts'
import {root, statusOf} from './run.ts'
import type {Part} from './suites.ts'

/** Native tests of programs that run as users run them (test/native/run.py AS_BUILT). */
const FRAMEWORKS = /numba|tinygrad|frameworks/

/** What compiles for minutes: the programs that users get, and everything with sanitizers for the native tests. */
export interface Builds {
  /** Resolves when they are there. Rejects with where the compiler's words are. */
  release: Promise<void>
  sanitized: Promise<void>
  /** Native tests that only compute, run while other suites wait for their servers. Undefined where there are none to run beside. */
  early?: Promise<Counts>
}

/**
 * Begins to compile what these suites need, and returns at once: node and unit tests mostly wait, so the compiler takes what they leave (nice 19).
 * One after the other, as each of them uses all cores.
 */
export async function beginBuilds(parts: Part[]): Promise<Builds> {
  const suites = parts.map(({suite}) => suite)
  const needsRelease = parts.some(({suite, words}) => suite === 'integration' || suite === 'e2e' || (suite === 'native' && (words.length === 0 || words.some((word) => FRAMEWORKS.test(word)))))
  const logs = join(root, 'native', 'build')
  await mkdir(logs, {recursive: true})
  const none = Promise.resolve()
  const release = needsRelease ? inBackground('the native layer', process.execPath, ['scripts/build-native.ts'], join(logs, 'release.log')) : none
  const sanitized = suites.includes('native') ? release.catch(() => {}).then(() => inBackground('the native tests', 'python3', ['test/native/run.py', '--build'], join(logs, 'asan.log'))) : none
  const hasAllOfNative = parts.some(({suite, words}) => suite === 'native' && words.length === 0)
  const early = needsRelease && hasAllOfNative ? sanitized.then(() => runEarly(join(logs, 'early.log'))) : undefined
  for (const one of [release, sanitized, early]) one?.catch(() => {}) // told where it is waited for
  return {release, sanitized, early}
}

/** Their words come when they are over, so that nobody else's are between them. */
async function runEarly(log: string): Promise<Counts> {
  const file = openSync(log, 'w')
  try {
    return await countPython(['test/native/run.py', '--no-build', '--early'], {niceness: 10, errors: file})
  } finally {
    closeSync(file)
    console.error(await readFile(log, 'utf8'))
  }
}

async function inBackground(what: string, command: string, args: string[], log: string): Promise<void> {
  console.log(`building ${what} in the background; the compiler's words are in ${log}`)
  const file = openSync(log, 'w')
  const child = spawn('nice', ['-n', '19', command, ...args], {cwd: root, stdio: ['ignore', file, file]})
  const end = (): boolean => child.kill()
  process.on('exit', end)
  const status = await statusOf(child).finally(() => process.off('exit', end))
  if (status !== 0) throw new Error(`${what} could not be built: see ${log}`)
}

import {spawn} from 'node:child_process'
import {openSync} from 'node:fs'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {Outcome} from './outcomes.ts'
import {joinCpuGroup} from './cpu.ts'
import {runNative} from './python.ts'
import {root, shownAfter, statusOf} from './run.ts'
import type {Part} from './suites.ts'

/** Native tests of programs that run as users run them (test/native/run.py AS_BUILT). */
const FRAMEWORKS = /numba|tinygrad|frameworks/

/** What compiles for minutes: the programs that users get, and everything with sanitizers for the native tests. */
export interface Builds {
  /** Resolves when they are there. Rejects with where the compiler's words are. */
  release: Promise<void>
  sanitized: Promise<void>
  /**
   * Native tests that only compute, run while other suites wait for their servers. Undefined where there are none to
   * run beside.
   */
  early?: Promise<Outcome[]>
}

/**
 * Begins to compile what these suites need, and returns at once: node and unit tests mostly wait, so the compiler takes
 * what they leave. One after the other, as each of them uses all cores. Suites wait for the first one, and native tests
 * that only compute begin after the second: both would be the last to be done if they were as nice as they can be.
 */
export async function beginBuilds(parts: Part[]): Promise<Builds> {
  const suites = parts.map(({suite}) => suite)
  const needsRelease = parts.some(
    ({suite, words}) =>
      suite === 'integration' ||
      suite === 'e2e' ||
      (suite === 'native' && (words.length === 0 || words.some((word) => FRAMEWORKS.test(word)))),
  )
  const logs = join(root, 'native', 'build')
  await mkdir(logs, {recursive: true})
  const none = Promise.resolve()
  // Of the long tests it has every check (native/CMakeLists.txt).
  const tier = parts.some(({env}) => env?.FLEXRACK_LONG !== undefined) ? ['FLEXRACK_LONG=1'] : []
  const release = needsRelease
    ? inBackground('the native layer', process.execPath, ['scripts/build-native.ts'], 5, join(logs, 'release.log'))
    : none
  const sanitized = suites.includes('native')
    ? release
        .catch(() => {})
        .then(() =>
          inBackground(
            'the native tests',
            'env',
            [...tier, 'python3', 'test/native/run.py', '--build'],
            10,
            join(logs, 'asan.log'),
          ),
        )
    : none
  const hasAllOfNative = parts.some(({suite, words}) => suite === 'native' && words.length === 0)
  const early =
    needsRelease && hasAllOfNative
      ? sanitized.then(() =>
          shownAfter(join(logs, 'early.log'), (output) => runNative(['--early'], {niceness: 10, output})),
        )
      : undefined
  for (const one of [release, sanitized, early]) one?.catch(() => {}) // told where it is waited for
  return {release, sanitized, early}
}

async function inBackground(
  what: string,
  command: string,
  args: string[],
  niceness: number,
  log: string,
): Promise<void> {
  console.log(`building ${what} in the background; the compiler's words are in ${log}`)
  const file = openSync(log, 'w')
  const child = spawn('nice', ['-n', String(niceness), command, ...args], {cwd: root, stdio: ['ignore', file, file]})
  joinCpuGroup(`building ${what}`, child.pid)
  const status = await statusOf(child)
  if (status !== 0) throw new Error(`${what} could not be built: see ${log}`)
}

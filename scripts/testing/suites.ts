import {resolve} from 'node:path'
import {HERE} from '../portable/machines.ts'
import {beginBuilds, type Builds} from './builds.ts'
import {runChecks} from './checks.ts'
import {addCounts, noCounts, type Counts} from './counts.ts'
import {countsOf, type Outcome} from './outcomes.ts'
import {runNative, runNode} from './python.ts'
import {root} from './run.ts'
import {runVitest} from './vitest.ts'

/**
 * In this order: what fails soonest comes first; native last, as it is compiled while the others wait for their
 * processes.
 */
export const SUITES = ['checks', 'node', 'unit', 'integration', 'e2e', 'native'] as const

export type Suite = (typeof SUITES)[number]

/** A suite, and of it what has one of these words in its path or name; all where there is none. */
export interface Part {
  suite: Suite
  words: string[]
  env?: Record<string, string>
}

/** Without packages and servers. The node tests among them are those that take no time. */
export const FAST: Part[] = [
  {suite: 'checks', words: []},
  {suite: 'unit', words: []},
  {suite: 'node', words: ['--fast']},
]

/** What the gate does with fixed seeds and for seconds, at random and for an hour. */
export const LONG: Part[] = [
  {suite: 'native', words: ['test_fuzz'], env: {FLEXRACK_FUZZ_SECONDS: '120'}},
  // Gigabytes of frameworks, as users run them: without sanitizers.
  {
    suite: 'native',
    words: ['test_frameworks', 'a_network_learns'],
    env: {FLEXRACK_LONG: '1', FLEXRACK_NATIVE_BUILD: resolve(root, 'native/build/release')},
  },
  // These are in the gate without sanitizers.
  {suite: 'native', words: ['test_cuda_numba', 'test_cuda_tinygrad'], env: {FLEXRACK_SANITIZED: '1'}},
  {
    suite: 'native',
    words: ['test_conformance', 'test_cuda_many', 'test_cuda_remote'],
    env: {FLEXRACK_LONG: '1'},
  },
  {suite: 'native', words: ['clients_come_and_go'], env: {FLEXRACK_TEST_CLIENTS: '200'}},
  {suite: 'native', words: ['test_threads'], env: {FLEXRACK_THREADS: '1'}},
  {suite: 'native', words: ['test_tidy'], env: {FLEXRACK_TIDY: '1'}},
  {suite: 'unit', words: ['property'], env: {FLEXRACK_LONG: '1'}},
  {suite: 'integration', words: ['property'], env: {FLEXRACK_LONG: '1'}},
  {suite: 'integration', words: ['.long.'], env: {FLEXRACK_LONG: '1'}},
  // Both build what the package has; then a checkout's tests of GPUs are passed by that, too.
  {suite: 'e2e', words: ['.long.'], env: {FLEXRACK_LONG: '1'}},
  {
    suite: 'e2e',
    words: ['attach', 'gpu'],
    env: {FLEXRACK_LONG: '1', FLEXRACK_NATIVE: resolve(root, 'native/prebuilt', `linux-${HERE}`)},
  },
  {suite: 'integration', words: ['chaos'], env: {FLEXRACK_LONG: '1', FLEXRACK_ROUNDS: '200'}},
  {suite: 'integration', words: ['faults'], env: {FLEXRACK_LONG: '1', FLEXRACK_FAULTS: '30'}},
]

/**
 * `[suite | path | word ...]`: words after a suite choose of it; a path of a test names its suite itself. Throws an
 * Error for a word without a suite.
 */
export function partsOf(words: string[]): Part[] {
  if (words.length === 0) return SUITES.map((suite) => ({suite, words: []}))
  const parts: Part[] = []
  for (const word of words) {
    const suite = SUITES.find((name) => name === word)
    if (suite) {
      parts.push({suite, words: []})
      continue
    }
    const owner = SUITES.find((name) => word.replace(/^\.\//, '').startsWith(`test/${name}/`))
    if (owner && parts.at(-1)?.suite !== owner) parts.push({suite: owner, words: []})
    const last = parts.at(-1)
    if (!last)
      throw new Error(
        `${word} is no suite; there are ${SUITES.join(', ')}, and words after one choose of it: unit train/place`,
      )
    last.words.push(word)
  }
  return parts
}

/** Runs a part, once what it needs is built. `output`: a descriptor that gets what it shows. */
export async function runPart(part: Part, builds: Builds, output?: number): Promise<Counts> {
  const {suite, words, env} = part
  switch (suite) {
    case 'checks':
      return runChecks(words)
    case 'unit':
      return countsOf(await runVitest(['unit'], words, {env, output}))
    case 'native':
      await (env?.FLEXRACK_NATIVE_BUILD ? builds.release : builds.sanitized)
      return runNativePart(part, builds)
    case 'node':
      return openCounts(part, await runNode(words.map(moduleName), {env, output}))
    case 'integration':
    case 'e2e':
      await whenReleased(builds)
      return openCounts(part, await runVitest([suite], words, {env}))
  }
}

/** Without it their GPU tests fail, the others do not. */
export async function whenReleased({release}: Builds): Promise<void> {
  await release.catch((error: Error) => console.error(`!! ${error.message}`))
}

/** What runs since the compiler was done is waited for beside the others. */
async function runNativePart(part: Part, {early}: Builds): Promise<Counts> {
  const rest = runNative([...(early ? ['--late'] : []), ...part.words.map(moduleName)], {env: part.env})
  const total = noCounts()
  for (const one of await Promise.allSettled([rest, early ?? []])) {
    addCounts(
      total,
      one.status === 'fulfilled'
        ? openCounts(part, one.value)
        : {...noCounts(), failed: 1, trouble: [`native: ${(one.reason as Error).message}`]},
    )
  }
  return total
}

/**
 * Real processes on a shared machine: a file with a failure may have a second try. What looks for failures at random
 * has none.
 */
export function openCounts(part: Part, outcomes: Outcome[]): Counts {
  const counts = noCounts()
  for (const [place, found] of Map.groupBy(outcomes, (one) => one.place)) {
    const isOpen =
      place !== part.suite &&
      found.some(({status}) => status === 'failed') &&
      found.every((one) => !one.final) &&
      part.env?.FLEXRACK_LONG === undefined
    addCounts(counts, isOpen ? {...noCounts(), unsettled: [{part, place, outcomes: found}]} : countsOf(found))
  }
  return counts
}

export {beginBuilds, type Builds}

/** Python's tests are known by their modules: test/node/test_x.py is test_x. */
function moduleName(word: string): string {
  return word.replace(/^.*\//, '').replace(/\.py$/, '')
}

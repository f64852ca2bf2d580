import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {join, relative} from 'node:path'
import {BaseSequencer, type TestModule, type TestSpecification} from 'vitest/node'
import {root} from './run.ts'

/** Seconds by file: a hint and nothing else. `FLEXRACK_DURATIONS=1 npm test` writes it anew. */
const FILE = join(root, 'test/durations.json')
/** What a file that nobody has measured may take, by what is in it: such files come early rather than last. */
const BYTES_A_SECOND = 300

/** The longest files first, of all projects, so that none of them is the last one that everything waits for. */
export default class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(longestFirst(files, readDurations()))
  }
}

export function longestFirst<T extends {moduleId: string}>(files: T[], known: Record<string, number>): T[] {
  const seconds = new Map(
    files.map((one) => [one, known[relative(root, one.moduleId)] ?? statSync(one.moduleId).size / BYTES_A_SECOND]),
  )
  return files.toSorted((a, b) => (seconds.get(b) ?? 0) - (seconds.get(a) ?? 0))
}

/** Of files that have run, their hooks too; the others stay as they were. */
export function keepDurations(modules: readonly TestModule[]): void {
  const measured = modules.map(
    (one) => [relative(root, one.moduleId), Math.round(one.diagnostic().duration / 1000)] as const,
  )
  const all = Object.entries({...readDurations(), ...Object.fromEntries(measured)}).filter(([place]) =>
    existsSync(join(root, place)),
  )
  writeFileSync(
    FILE,
    `${JSON.stringify(Object.fromEntries(all.toSorted(([one], [other]) => (one < other ? -1 : 1))), null, 2)}\n`,
  )
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}

import {join} from 'node:path'
import {noCounts, type Counts} from './counts.ts'
import type {Outcome} from './outcomes.ts'
import {root, shownAfter} from './run.ts'
import {openCounts, runPart, whenReleased, type Builds, type Part} from './suites.ts'
import {runVitest} from './vitest.ts'

/** Parts that run at the same time. */
export type Stage = Part[]

/**
 * Which suites run beside each other where one comes after the other: node's tests wait for processes, and so do those
 * of real servers.
 */
const BESIDE = [
  ['node', 'unit'],
  ['integration', 'e2e'],
]

/** One after the other. */
export function stagesOf(parts: Part[]): Stage[] {
  const stages: Stage[] = []
  for (const part of parts) {
    const last = stages.at(-1)
    if (last?.length === 1 && areBeside(last[0] as Part, part)) last.push(part)
    else stages.push([part])
  }
  return stages
}

/** What each part came to. */
export async function runStage(stage: Stage, builds: Builds): Promise<[Part, Counts][]> {
  if (stage.length === 2 && stage[0]?.suite === 'integration') return runServers(stage, builds)
  return Promise.all(
    stage.map(async (part, index): Promise<[Part, Counts]> => [
      part,
      await toldCounts(part, () => (index === 0 ? runPart(part, builds) : runHeld(part, builds))),
    ]),
  )
}

function areBeside(one: Part, other: Part): boolean {
  if (![one, other].every(({env}) => env === undefined)) return false
  const isPair = BESIDE.some(
    (pair) => pair.includes(one.suite) && pair.includes(other.suite) && one.suite !== other.suite,
  )
  // One vitest has the files of both, and words would choose of either.
  return (
    isPair && (one.suite === 'node' || other.suite === 'node' || [one, other].every(({words}) => words.length === 0))
  )
}

/** All files with real servers, in one queue. */
async function runServers(stage: Stage, builds: Builds): Promise<[Part, Counts][]> {
  await whenReleased(builds)
  const [first, second] = stage as [Part, Part]
  let outcomes: Outcome[] = []
  const failed = await toldCounts(first, async () => {
    outcomes = await runVitest(
      stage.map(({suite}) => suite),
      [],
    )
    return noCounts()
  })
  if (failed.failed > 0) return [[first, failed]]
  const isOfSecond = ({place}: Outcome): boolean => place.startsWith(`test/${second.suite}/`)
  // What belongs to no file is of the first.
  const own = outcomes
    .filter((one) => !isOfSecond(one))
    .map((one) => (one.place.startsWith('test/') ? one : {...one, place: first.suite}))
  return [
    [first, openCounts(first, own)],
    [second, openCounts(second, outcomes.filter(isOfSecond))],
  ]
}

function runHeld(part: Part, builds: Builds): Promise<Counts> {
  return shownAfter(join(root, 'native', 'build', `${part.suite}.log`), (output) => runPart(part, builds, output))
}

/** A suite that cannot run has failed. */
async function toldCounts({suite, words}: Part, work: () => Promise<Counts>): Promise<Counts> {
  const title = [suite, ...words].join(' ')
  return work().catch((error: Error): Counts => {
    console.error(`the suite ${title} could not run: ${error.message}`)
    return {...noCounts(), failed: 1, trouble: [`${title}: ${error.message}`]}
  })
}

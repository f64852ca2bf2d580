import {addCounts, noCounts, type Counts, type Unsettled} from './counts.ts'
import {countsOf, countsOfTries, type Outcome} from './outcomes.ts'
import {runNative, runNode} from './python.ts'
import type {Part} from './suites.ts'
import {runVitest} from './vitest.ts'

/** So many files fail of a noisy machine. Where more do, something is broken. */
const MOST_FILES = 6

/**
 * Of the files that failed beside others: each again, alone, when the machine has nothing else to do. What fails both
 * times is a failure.
 */
export async function trySecond(unsettled: Unsettled[], repeat = runAlone): Promise<Counts> {
  const counts = noCounts()
  const isBroken = unsettled.length > MOST_FILES
  if (isBroken)
    console.log(`\n── no second try: ${unsettled.length} files failed, and a noisy machine fails ${MOST_FILES} at most`)
  for (const {part, place, outcomes} of unsettled) {
    if (!isBroken) console.log(`\n── second try, alone: ${place}`)
    addCounts(
      counts,
      isBroken ? countsOf(outcomes) : countsOfTries(outcomes, await repeat(part, place).catch(toldAsNone)),
    )
  }
  return counts
}

function runAlone({suite, env}: Part, place: string): Promise<Outcome[]> {
  const options = {env, isAlone: true}
  return suite === 'node'
    ? runNode([place], options)
    : suite === 'native'
      ? runNative([place], options)
      : runVitest([suite], [place], options)
}

function toldAsNone(error: Error): Outcome[] {
  console.error(error.message)
  return []
}

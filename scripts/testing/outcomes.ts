import {noCounts, type Counts} from './counts.ts'

/**
 * What a test came to, or a file outside of its tests (`name` is empty): it did not load, or what belongs to all its
 * tests failed.
 */
export interface Outcome {
  /** The file, or the module. */
  place: string
  name: string
  status: 'passed' | 'failed' | 'skipped'
  /** Why it did not pass; empty where that is not known. */
  why: string
  seconds: number
  /** A second try of its file changes nothing: it was tried at random, or a sanitizer has found something. */
  final?: boolean
}

export function countsOf(outcomes: Outcome[]): Counts {
  const counts = noCounts()
  const skipped = new Map<string, number>()
  for (const one of outcomes) {
    const title = titleOf(one)
    // What is no test is counted where it failed only.
    if (one.name !== '' || one.status === 'failed') counts[one.status]++
    if (one.name !== '') counts.slow.push([title, one.seconds])
    if (one.status === 'failed') counts.trouble.push(`${title}: ${one.why}`)
    else if (one.status === 'skipped' && one.why !== '') counts.trouble.push(`${title}: skipped, ${one.why}`)
    else if (one.status === 'skipped') skipped.set(one.place, (skipped.get(one.place) ?? 0) + 1)
  }
  for (const [place, count] of skipped) counts.trouble.push(`${place}: ${count} skipped`)
  return counts
}

/** Of a file that was tried twice: what passed once passed, and is told as flaky where it failed once. */
export function countsOfTries(first: Outcome[], second: Outcome[]): Counts {
  const [before, after] = [byName(first), byName(second)]
  const flaky: string[] = []
  const settled = [...new Set([...before.keys(), ...after.keys()])].flatMap((key): Outcome[] => {
    const tries = [before.get(key), after.get(key)].filter((one) => one !== undefined)
    const passed = tries.find(({status}) => status === 'passed')
    const failed = tries.findLast(({status}) => status === 'failed')
    // A file's own trouble is there or not: it never passes.
    const isFlaky = failed !== undefined && (passed !== undefined || (failed.name === '' && tries.length === 1))
    if (isFlaky) flaky.push(`${titleOf(failed)}: ${failed.why}`)
    if (passed) return [passed]
    return isFlaky ? [] : [failed ?? (tries[0] as Outcome)]
  })
  return {...countsOf(settled), flaky}
}

/** Names may repeat in a file: the second of a name has a key of its own. */
function byName(outcomes: Outcome[]): Map<string, Outcome> {
  const found = new Map<string, Outcome>()
  for (const one of outcomes) {
    let count = 0
    while (found.has(`${one.name}#${count}`)) count++
    found.set(`${one.name}#${count}`, one)
  }
  return found
}

const titleOf = ({place, name}: Outcome): string => (name === '' ? place : `${place}: ${name}`)

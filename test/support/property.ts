import {randomInt} from 'node:crypto'
import type fc from 'fast-check'

const isLong = process.env.FLEXRACK_LONG !== undefined
const GATE_SEED = 20_261_123
const LONG_FACTOR = 20

/** The same in the gate each time, another one in the long tests, or FLEXRACK_SEED. */
export function chosenSeed(): number {
  return Number(process.env.FLEXRACK_SEED ?? (isLong ? randomInt(2 ** 31 - 1) : GATE_SEED))
}

/**
 * Parameters of a property test, for at most `seconds` or `runs`. The same values each time in the gate; others, and
 * more of them, in the long tests (FLEXRACK_LONG). The seed is printed and chosen with FLEXRACK_SEED=N.
 */
export function bounded<T>(what: string, {seconds, runs}: {seconds: number; runs: number}): fc.Parameters<T> {
  const seed = chosenSeed()
  console.info(`${what}: FLEXRACK_SEED=${seed}`)
  const factor = isLong ? LONG_FACTOR : 1
  return {seed, numRuns: runs * factor, interruptAfterTimeLimit: seconds * factor * 1000, markInterruptAsFailure: false}
}

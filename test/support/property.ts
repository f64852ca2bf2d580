import {randomInt} from 'node:crypto'
import type fc from 'fast-check'

/**
 * Parameters of a property test: other values each time, from a seed that is printed and repeated with FLEXRACK_SEED=N, for at most `seconds` or `runs`.
 */
export function bounded<T>(what: string, {seconds, runs}: {seconds: number; runs: number}): fc.Parameters<T> {
  const seed = Number(process.env.FLEXRACK_SEED ?? randomInt(2 ** 31 - 1))
  console.info(`${what}: FLEXRACK_SEED=${seed}`)
  return {seed, numRuns: runs, interruptAfterTimeLimit: seconds * 1000, markInterruptAsFailure: false}
}

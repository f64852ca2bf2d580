import type {ClaimWish} from '../../src/lib/head/types.ts'

/** A run of the project digits that wants these GPUs of n1. */
export const wish = (run: string, gpus: string[], more: Partial<ClaimWish> = {}): ClaimWish => ({
  run,
  project: 'digits',
  parts: [{node: 'n1', gpus, exclusive: false}],
  gpus: gpus.length,
  priority: 0,
  limit: null,
  ...more,
})

/** The headers of a command of this user's. */
export const as = (user: string): Record<string, string> => ({'x-flexrack-owner': `${user}@lab1`})

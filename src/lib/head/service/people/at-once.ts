import {Failure} from '../failure.ts'

/** Does no more of something at once than that. Errors: 429. */
export function atMost(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let under = 0
  return async (work) => {
    if (under >= most) throw new Failure(429, 'REFUSED', 'many log in just now', {retry_after: 2})
    under++
    try {
      return await work()
    } finally {
      under--
    }
  }
}

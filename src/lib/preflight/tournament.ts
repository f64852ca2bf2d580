/**
 * Every pair of 0..count-1 once, in rounds in which nobody plays twice: the circle method of round-robin tournaments.
 * count - 1 rounds (count where it is odd, each with one who waits). Pure.
 */
export function tournament(count: number): [number, number][][] {
  const seats = count % 2 === 0 ? count : count + 1
  const rounds: [number, number][][] = []
  for (let round = 0; round < seats - 1; round++) {
    // The last seat stays; the others move on by one a round.
    const at = (seat: number): number => (seat === seats - 1 ? seat : (seat + round) % (seats - 1))
    const pairs: [number, number][] = []
    for (let seat = 0; seat < seats / 2; seat++) {
      const [one, other] = [at(seat), at(seats - 1 - seat)]
      if (one < count && other < count) pairs.push(one < other ? [one, other] : [other, one])
    }
    if (pairs.length > 0) rounds.push(pairs)
  }
  return rounds
}

/** `most` of the rounds, evenly over all: everybody takes part in each, so nobody is left out of a sample. Pure. */
export function sampleRounds<T>(rounds: readonly T[], most: number): T[] {
  if (most >= rounds.length) return [...rounds]
  return Array.from({length: Math.max(0, most)}, (_, index) => rounds[Math.floor((index * rounds.length) / most)] as T)
}

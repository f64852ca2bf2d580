import {describe, expect, it} from 'vitest'
import {sampleRounds, tournament} from '../../../src/lib/preflight/tournament.ts'

describe('a tournament', () => {
  it.each([2, 3, 4, 7, 8, 63, 64, 100])('of %i: every pair once, and nobody twice in a round', (count) => {
    const rounds = tournament(count)
    expect(rounds.length).toBe(count % 2 === 0 ? count - 1 : count)
    const pairs = rounds.flat().map(([one, other]) => `${one} ${other}`)
    expect(new Set(pairs).size).toBe((count * (count - 1)) / 2)
    expect(pairs.length).toBe((count * (count - 1)) / 2)
    for (const round of rounds) expect(new Set(round.flat()).size).toBe(round.length * 2)
  })

  it('of one or none has no round', () => {
    expect([tournament(0), tournament(1)]).toEqual([[], []])
  })

  it('is sampled evenly, and everybody plays in each round of an even number', () => {
    const sample = sampleRounds(tournament(64), 10)
    expect(sample.length).toBe(10)
    for (const round of sample) expect(new Set(round.flat()).size).toBe(64)
    expect(sampleRounds([1, 2, 3, 4, 5, 6], 3)).toEqual([1, 3, 5])
    expect(sampleRounds([1, 2], 5)).toEqual([1, 2])
    expect(sampleRounds([1, 2], 0)).toEqual([])
    expect(sampleRounds([1, 2], -1)).toEqual([])
  })
})

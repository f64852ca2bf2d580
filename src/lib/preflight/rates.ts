import {referenceRate, SLOW_SHARE} from './judge-pairs.ts'
import type {Taking} from './measure.ts'
import {sampleRounds, tournament} from './tournament.ts'
import type {Measured, Rate, Way} from './types.ts'

/** Seconds of one transfer: long enough for TCP to find its speed in a rack, short enough for many. */
const FLOOD_SECONDS = 0.15
/** Milliseconds of a round: there and back, and the words around them. */
const ROUND_MS = 2 * FLOOD_SECONDS * 1000 + 60
/** How often what was slow is tried again: a busy moment is no slow network. */
const AGAIN = 2
/** A way on which nothing comes through holds its round up no longer than this. */
const PATIENCE_MS = 2500

/**
 * Bandwidth between pairs that reach each other, in both directions, one after the other; in every round nobody is in
 * two transfers. What is slow beside the others is measured again, with few others at the same time, and the best
 * figure counts. Within about `milliseconds`.
 */
export async function measureRates(
  players: Taking[],
  ways: Way[],
  milliseconds: number,
  onOneMachine: boolean,
): Promise<Pick<Measured, 'rates' | 'pairs'>> {
  const broken = new Set(
    ways
      .filter((way) => way.error !== undefined && !way.rendezvous)
      .flatMap((way) => [`${way.from} ${way.to}`, `${way.to} ${way.from}`]),
  )
  const rounds = tournament(players.length)
    .map((round) =>
      round
        .map(([one, other]) => [players[one], players[other]] as [Taking, Taking])
        .filter(([one, other]) => isWorth(one, other, broken, onOneMachine)),
    )
    .filter((round) => round.length > 0)
  const possible = rounds.reduce((sum, round) => sum + round.length, 0)
  const end = performance.now() + milliseconds
  const rates = new Map<string, Rate>()
  for (const round of sampleRounds(rounds, Math.floor(milliseconds / ROUND_MS))) {
    if (performance.now() > end - ROUND_MS) break
    await play(round, rates)
  }
  const measured = rates.size / 2
  const usual = referenceRate([...rates.values()])
  for (let time = 0; time < AGAIN; time++) {
    for (const round of again(rounds, rates, usual * SLOW_SHARE)) {
      if (performance.now() > end + ROUND_MS) break
      await play(round, rates)
    }
  }
  return {rates: [...rates.values()], pairs: {possible, measured}}
}

function isWorth(
  {measured: one}: Taking,
  {measured: other}: Taking,
  broken: ReadonlySet<string>,
  onOneMachine: boolean,
): boolean {
  if (one.error !== undefined || other.error !== undefined || broken.has(`${one.node} ${other.node}`)) return false
  return onOneMachine || one.machine !== other.machine
}

async function play(round: [Taking, Taking][], rates: Map<string, Rate>): Promise<void> {
  await Promise.all(round.map(([one, other]) => send(one, other, rates)))
  await Promise.all(round.map(([one, other]) => send(other, one, rates)))
}

async function send(from: Taking, to: Taking, rates: Map<string, Rate>): Promise<void> {
  const names = {from: from.measured.node, to: to.measured.node}
  let found: Rate
  try {
    const answer = await from.talk.ask(
      {do: 'flood', peer: [names.to, to.measured.address as string, to.port as number], seconds: FLOOD_SECONDS},
      PATIENCE_MS,
    )
    found =
      answer.bytes !== undefined && answer.seconds
        ? {...names, rate: (answer.bytes * 8) / answer.seconds}
        : {...names, text: answer.text ?? 'no answer'}
  } catch (error) {
    found = {...names, text: (error as Error).message}
  }
  const key = `${names.from} ${names.to}`
  if ((rates.get(key)?.rate ?? -1) < (found.rate ?? 0)) rates.set(key, found)
}

/**
 * Rounds of the pairs that were slow, in the order in which they were played: nobody is in two of a round here, either.
 */
function again(rounds: [Taking, Taking][][], rates: ReadonlyMap<string, Rate>, below: number): [Taking, Taking][][] {
  const isSlow = (from: Taking, to: Taking): boolean => {
    const rate = rates.get(`${from.measured.node} ${to.measured.node}`)
    return rate !== undefined && (rate.rate ?? 0) < below
  }
  return rounds
    .map((round) => round.filter(([one, other]) => isSlow(one, other) || isSlow(other, one)))
    .filter((round) => round.length > 0)
}

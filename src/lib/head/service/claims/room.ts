import {roomFor, turnsOf, yieldsTo, type Preemptor, type Holder, type Turn} from '../../../fairness/index.ts'
import type {HeadClaim, HeadClaims} from '../../../protocol/index.ts'
import type {RoomOffer} from '../../types.ts'
import {waitingOf, type OverOf} from './facts.ts'

type Claimed = readonly [run: string, claim: HeadClaim]

export interface RoomFacts {
  /** Milliseconds since 1970. */
  now: number
  used: Readonly<Record<string, number>>
  /** What runs told that may make room. */
  heard: ReadonlyMap<string, Heard>
}

/** When the newest checkpoint of a run was written, as it told, and when it told; milliseconds. */
export interface Heard {
  saved: number | null
  at: number
}

/** A run that is silent for so long hears nothing, either: nobody else is to end for what it would not give. */
const DEAF_MS = 60_000

/**
 * The runs that are told to make room for the first in line: all that have what it wants, or nobody, as without one of them
 * the others would make room for nothing. None of which the line would let in again before it. Pure.
 */
export function whoYields(
  turn: Turn,
  preemptor: HeadClaim,
  claims: readonly Claimed[],
  facts: RoomFacts & {overOf: OverOf},
): string[] {
  if (turn.starts || turn.before.length > 0) return []
  const known = new Map(claims)
  const others = claims.filter(
    ([run, one]) => run !== turn.run && one.state === 'waiting' && facts.overOf(run, one).every(({soft}) => soft),
  )
  const leaving = turn.holders.flatMap((run): Claimed[] => (known.has(run) ? [[run, known.get(run)!]] : []))
  const waiting = [...others, [turn.run, preemptor] as const, ...leaving].map(waitingOf)
  const line = turnsOf({...ruleOf(facts), running: [], waiting}).map((one) => one.run)
  const isBefore = (run: string): boolean => line.indexOf(turn.run) < line.indexOf(run)
  const holders = turn.holders.map((run) => known.get(run) && holderOf([run, known.get(run)!], facts))
  const goes = (one: Holder | undefined): boolean =>
    one !== undefined &&
    (roomOf(known.get(one.run)!, known) !== null || (yieldsTo(one, preemptor, ruleOf(facts)) && isBefore(one.run)))
  return holders.every(goes) ? turn.holders : []
}

/** Those that would make room for a run of somebody, in the order in which they would. Pure. */
export function offersTo(preemptor: Preemptor, claims: readonly Claimed[], facts: RoomFacts): RoomOffer[] {
  const holders = claims.filter(([, one]) => one.state === 'held').map((one) => holderOf(one, facts))
  return roomFor(preemptor, holders, ruleOf(facts)).map((one) => ({...one, lost: Math.round(one.lost)}))
}

/** For whom a run is to make room; nobody where that one waits no more. Pure. */
export function roomOf({yields}: HeadClaim, claims: ReadonlyMap<string, HeadClaim>): string | null {
  return yields !== undefined && claims.get(yields)?.state === 'waiting' ? yields : null
}

/** Those that are not making room yet. Pure. */
export function newlyTold(runs: readonly string[], claims: readonly Claimed[]): string[] {
  const known = new Map(claims)
  return runs.filter((run) => roomOf(known.get(run)!, known) === null)
}

/** Has `told` make room for `preemptor`; whoever was told before and is not among `runs` goes on. Pure. */
export function withTold(
  claims: HeadClaims['claims'],
  {told, runs, preemptor}: {told: readonly string[]; runs: readonly string[]; preemptor: string},
): HeadClaims['claims'] {
  const changed = ([run, claim]: [string, HeadClaim]): [string, HeadClaim] => {
    if (told.includes(run)) return [run, {...claim, yields: preemptor}]
    if (claim.yields !== preemptor || runs.includes(run)) return [run, claim]
    const {yields: _yields, ...others} = claim
    return [run, others]
  }
  return Object.fromEntries(Object.entries(claims).map(changed))
}

function holderOf([run, claim]: Claimed, {now, heard}: RoomFacts): Holder {
  const {saved = null, at = 0} = heard.get(run) ?? {}
  return {
    run,
    parts: claim.parts,
    ends: null,
    user: claim.user,
    priority: claim.priority,
    project: claim.project,
    ...(claim.rack && {rack: claim.rack}),
    gpus: claim.gpus,
    // only a run whose supervisors have begun, and go on, hears of it
    preemptible: claim.preemptible === true && claim.token !== undefined && now - at < DEAF_MS,
    from: (claim.heldAt ?? now) / 1000,
    saved: saved === null ? null : saved / 1000,
  }
}

function ruleOf({now, used}: RoomFacts): {now: number; used: Readonly<Record<string, number>>} {
  return {now: now / 1000, used}
}

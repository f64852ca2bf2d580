import {collide, turnsOf, type QueueFacts, type Turn, type Waiting} from '../../../fairness/index.ts'
import type {HeadClaim} from '../../../protocol/index.ts'
import type {ClaimWish, Excess} from '../../types.ts'

/** Every limit that a run with such a claim would be over. */
export type OverOf = (run: string, claim: HeadClaim) => Excess[]

/** A command that waits asks every few seconds, and one whose run has no token yet every minute. Milliseconds. */
export const SILENT_MS = {waiting: 30_000, held: 180_000} as const
/** Until a run that was let in is seen on its nodes. Milliseconds. */
const COMING_MS = 60_000
/**
 * So long a run may be on its way to its nodes, with all that is brought there, before who has not looked at these takes it
 * for none: a command that goes on, and begins nothing, holds up nobody who made room. Milliseconds.
 */
const BRINGING_MS = 900_000

/**
 * The queue as the rules take it. `asker`: who asks, and what its nodes say of themselves. What they have and the head
 * does not know (runs that are not tracked there) holds it up without an end; what the head knows and they do not have
 * any more (a node that was switched off) does not hold it up. Pure.
 */
export function queueFacts(
  claims: readonly [string, HeadClaim][],
  {
    now,
    used,
    asker,
  }: {
    now: number
    used: Record<string, number>
    asker?: {run: string; parts: HeadClaim['parts']; seen: NonNullable<ClaimWish['seen']>}
  },
): QueueFacts {
  const known = new Set(claims.map(([run]) => run))
  const there = new Set(asker?.seen.map((one) => one.run))
  const held = claims.filter(
    ([run, one]) =>
      one.state === 'held' &&
      (asker
        ? there.has(run) || now - (one.heldAt ?? 0) < COMING_MS || !collide(one.parts, asker.parts)
        : one.token !== undefined || now - (one.heldAt ?? 0) < BRINGING_MS),
  )
  const strangers = asker?.seen.filter((one) => !known.has(one.run)) ?? []
  return {
    now: now / 1000,
    used,
    running: [
      ...held.map(([run, {parts, limit, heldAt = now}]) => ({
        run,
        parts,
        ends: limit === null ? null : heldAt / 1000 + limit,
      })),
      ...strangers.map(({run, parts}) => ({run, parts, ends: null})),
    ],
    waiting: claims
      // a run that has made room, and whose nodes are silent since, holds nobody up
      .filter(([, {state, token, seenAt}]) => state === 'waiting' && (!token || now - seenAt < SILENT_MS.held))
      .map(waitingOf),
  }
}

/** A claim as the line takes it. Pure. */
export function waitingOf([run, claim]: readonly [string, HeadClaim]): Waiting {
  const {user, project, parts, since, priority, limit, rack} = claim
  return {run, user, project, parts, since: since / 1000, priority, limit, ...(rack && {rack})}
}

/**
 * The turn of a run that asks, among those that no hard limit keeps waiting. `seen`: what its nodes say of themselves, where
 * it has asked them. Pure.
 */
export function turnOf(
  run: string,
  claim: HeadClaim,
  claims: readonly [string, HeadClaim][],
  {
    seen,
    overOf,
    now,
    used,
  }: {seen?: NonNullable<ClaimWish['seen']>; overOf: OverOf; now: number; used: Record<string, number>},
): Turn | undefined {
  const others = claims.filter(
    ([name, one]) => name !== run && (one.state === 'held' || !overOf(name, one).some((excess) => !excess.soft)),
  )
  const asker = seen && {asker: {run, parts: claim.parts, seen}}
  return turnsOf(queueFacts([...others, [run, claim]], {now, used, ...asker})).find((one) => one.run === run)
}

import {decayed, faded} from '../../../fairness/index.ts'
import type {HeadClaim, HeadClaims} from '../../../protocol/index.ts'
import {namesOf} from './check.ts'

type Ledger = Pick<HeadClaims, 'used' | 'month' | 'hours'>

export const EMPTY_LEDGER: Ledger = {used: {}, month: '', hours: {}}

/** The same with a claim that ended. Pure. */
export function withEnded(ledger: Ledger, claim: HeadClaim, end: number): Ledger {
  if (claim.heldAt === undefined || claim.gpus === 0) return ledger
  const month = monthOf(end)
  const hours = ledger.month === month ? {...ledger.hours} : {}
  const spent = hoursWithin(claim, end)
  for (const name of namesOf(claim)) hours[name] = (hours[name] ?? 0) + spent
  return {
    month,
    hours,
    used: {...ledger.used, [claim.user]: {hours: usedBy(ledger, [claim], claim.user, end), at: end}},
  }
}

/** With a claim that has more from now on: until now it is charged with what it was granted. Pure. */
export function withCorrected(kept: HeadClaims, run: string, more: HeadClaim, now: number): HeadClaims {
  const before = kept.claims[run]
  const isHeld = before?.state === 'held'
  const ledger = isHeld ? withEnded(kept, before, now) : {}
  return {...kept, ...ledger, claims: {...kept.claims, [run]: {...more, ...(isHeld && {heldAt: now})}}}
}

/** Without claims that ended. What never became a run had nothing. Pure. */
export function without(kept: HeadClaims, runs: readonly string[], end: number): HeadClaims {
  let ledger: Ledger = {used: kept.used, month: kept.month, hours: kept.hours}
  for (const run of runs) {
    const claim = kept.claims[run]
    if (claim?.token !== undefined) ledger = withEnded(ledger, claim, end)
  }
  return {claims: Object.fromEntries(Object.entries(kept.claims).filter(([run]) => !runs.includes(run))), ...ledger}
}

/** GPU hours of this month, with those of claims that are held. Pure. */
export function hoursNow(ledger: Ledger, held: readonly HeadClaim[], now: number): Record<string, number> {
  const hours = ledger.month === monthOf(now) ? {...ledger.hours} : {}
  for (const claim of held)
    for (const name of namesOf(claim)) hours[name] = (hours[name] ?? 0) + hoursWithin(claim, now)
  return hours
}

/** What users had of late, with claims that are held. Pure. */
export function usedNow(ledger: Ledger, held: readonly HeadClaim[], now: number): Record<string, number> {
  const users = new Set([...Object.keys(ledger.used), ...held.map((one) => one.user)])
  return Object.fromEntries([...users].map((user) => [user, usedBy(ledger, held, user, now)]))
}

function usedBy({used}: Ledger, held: readonly HeadClaim[], user: string, now: number): number {
  const before = Object.hasOwn(used, user) ? used[user] : undefined
  const sum = before ? faded(before.hours, (now - before.at) / 1000) : 0
  return held
    .filter((one) => one.user === user && one.heldAt !== undefined)
    .reduce((all, {gpus, heldAt = now}) => all + decayed({gpus, from: heldAt / 1000, to: now / 1000}, now / 1000), sum)
}

/** Of the month in which `end` is. */
function hoursWithin({gpus, heldAt}: HeadClaim, end: number): number {
  if (heldAt === undefined) return 0
  const first = Date.parse(`${monthOf(end)}-01T00:00:00Z`)
  return (gpus * Math.max(0, end - Math.max(heldAt, first))) / 3_600_000
}

function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}

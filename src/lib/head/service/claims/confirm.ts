import {count} from '../../../base/index.ts'
import type {ClaimPart, HeadClaim} from '../../../protocol/index.ts'
import type {RunWord} from '../../types.ts'
import {Failure} from '../failure.ts'
import {LARGEST_CLAIMS, MOST_GPUS, namedGpus, sizeOf} from './wish.ts'

/** A run that is told to end does so within its grace; one that does not has no token any more then. Milliseconds. */
export const END_MS = 600_000
/** A run whose time is over ends within its grace, and hands on what it has written. Milliseconds. */
const LATE_MS = 3_600_000
/** What a claim counts beside its parts and their GPUs: a user has 500 at most. */
const EACH_CLAIM = 40

/**
 * What the nodes of a run say that it has beyond its claim, as the claim is corrected by it; null where all fits. Less is
 * no matter: nodes come and go. GPUs are compared by their own names, as a node has another one after a reboot. Whoever has
 * the run's token may say anything: what is said of nodes that no claim names ends the run, and is not charged. Pure.
 */
export function corrected(
  claim: HeadClaim,
  has: NonNullable<RunWord['has']>,
  {known, now}: {known: ReadonlySet<string>; now: number},
): (HeadClaim & {differs: {at: number; why: string}}) | null {
  const leased = has.reduce((sum, one) => sum + one.leased, 0)
  const named = namedGpus(claim.parts)
  const strange = strangersIn(claim.parts, has)
  const shares = claim.gpus - named // of leases; what they are the GPU daemons know
  const isShort = leased > 0 && shares <= 0
  if (strange.length === 0 && !isShort && has.length <= claim.parts.length) return null
  const own = new Set(claim.parts.map((one) => one.node))
  const charged = has.filter(({node}) => own.has(node) || known.has(node))
  const parts = [...claim.parts, ...charged.map(({leased: _leased, ...part}) => part)]
  const found = [
    ...(strange.length > 0 ? [`GPUs that it does not name (${strange.slice(0, 4).join(', ')})`] : []),
    ...(isShort ? [`leases of ${leased} GPUs`] : []),
    ...(has.length > claim.parts.length ? [`${count(has.length, 'node')} instead of ${claim.parts.length}`] : []),
  ]
  const [there, lent] = chargedGpus(charged)
  const gpus = Math.max(claim.gpus, there + (isShort ? lent : shares))
  const why = `its claim says ${count(claim.gpus, 'GPU')} on ${count(claim.parts.length, 'node')}, and its nodes gave it ${found.join(', ')}`
  return {...claim, parts, gpus, differs: {at: now, why}}
}

/** GPUs of the nodes' own, and of leases: of one node no more than it may have, however often it is named. Pure. */
function chargedGpus(has: NonNullable<RunWord['has']>): [own: number, leased: number] {
  const nodes = [...Map.groupBy(has, ({node}) => node).values()]
  const sum = (of: (parts: NonNullable<RunWord['has']>) => number): number =>
    nodes.reduce((all, parts) => all + Math.min(MOST_GPUS, of(parts)), 0)
  return [Math.min(namedGpus(has), sum(namedGpus)), sum((parts) => parts.reduce((all, {leased}) => all + leased, 0))]
}

/** Nodes of which somebody has been granted something, or has asked for it. Pure. */
export function knownNodes(claims: readonly [string, HeadClaim][]): Set<string> {
  return new Set(claims.flatMap(([, {parts}]) => parts.map((one) => one.node)))
}

/** What others are told of claims. */
export interface ClaimNews {
  /** All runs that are to make room, once; where it throws, nobody is to, and who asked gets the error. */
  room(runs: readonly string[], preemptor: string, user: string): void
  /** A run that has more than it claims, once. */
  differs(run: string, why: string): void
}

/** Whoever sees a run on nodes may tell lies of it: what they say is told once, and ends nothing. */
export class Witnesses {
  readonly #told = new Set<string>()

  compare(
    {run, parts}: {run: string; parts: readonly ClaimPart[]},
    claim: HeadClaim | undefined,
    by: string,
    tell: ClaimNews,
  ): void {
    if (claim?.token === undefined || claim.user === by || claim.state !== 'held' || this.#told.has(run)) return
    const more = strangersIn(claim.parts, parts)
    if (more.length === 0) return
    this.#told.add(run)
    tell.differs(run, `${by} sees it with GPUs that it does not claim: ${more.slice(0, 4).join(', ')}`)
  }

  /** A run that others let pass for a time that is long over. Its node ends it by what its command told there. */
  late(run: string, {state, token, limit, heldAt}: HeadClaim, now: number, tell: ClaimNews): void {
    if (state !== 'held' || token === undefined || limit === null || heldAt === undefined) return
    const name = `late ${run}`
    if (now - heldAt < limit * 1000 + LATE_MS || this.#told.has(name)) return
    this.#told.add(name)
    tell.differs(
      run,
      `its claim says that it takes ${limit} s at most, and it goes on since ${new Date(heldAt).toISOString()}`,
    )
  }

  forget(run: string): void {
    this.#told.delete(run)
    this.#told.delete(`late ${run}`)
  }
}

/** GPUs of a run, as others see them on its nodes, that its claim does not name. Pure. */
function strangersIn(claimed: readonly ClaimPart[], seen: readonly ClaimPart[]): string[] {
  const named = new Set(claimed.flatMap((one) => one.gpus))
  return [...new Set(seen.flatMap((one) => one.gpus))].filter((gpu) => !named.has(gpu))
}

/** Errors: 429 where the user's claims are more than the head looks through at each question. Pure. */
export function requireSpace(run: string, claim: HeadClaim, claims: readonly [string, HeadClaim][]): void {
  const others = claims.flatMap(([name, one]) => (name !== run && one.user === claim.user ? [one] : []))
  const sum = [...others, claim].reduce((all, {parts}) => all + EACH_CLAIM + sizeOf(parts), 0)
  if (sum > LARGEST_CLAIMS)
    throw new Failure(429, 'REFUSED', `${claim.user} claims more at once than the head keeps for one user`)
}

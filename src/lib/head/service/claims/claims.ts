import {join} from 'node:path'
import {turnsOf, type Turn} from '../../../fairness/index.ts'
import type {HeadClaim, HeadClaims, HeadQuotas, QuotaLimits} from '../../../protocol/index.ts'
import type {ClaimAnswer, ClaimWish, Excess, QueuedRun, QuotaUse} from '../../types.ts'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import type {Tokens} from '../tokens/tokens.ts'
import {excesses, quotaUses} from './check.ts'
import {queueFacts} from './facts.ts'
import {EMPTY_LEDGER, hoursNow, usedNow, withEnded} from './ledger.ts'
import {LARGEST_CLAIMS, QUOTAS_FILE, sizeOf} from './wish.ts'
import {queuedRun, whyOf} from './words.ts'

/** Whose claim it is. */
export interface Claimant {
  user: string
  teams: string[]
}

/** Every limit that a run with such a claim would be over. */
type OverOf = (run: string, claim: HeadClaim) => Excess[]

/** A command that waits asks every few seconds, and one whose run has no token yet every minute. */
const SILENT_MS = {waiting: 30_000, held: 180_000} as const
/** What a claim counts beside its parts and their GPUs: a user has 500 at most. */
const EACH_CLAIM = 40

/**
 * What runs have and wait for. A claim ends with the run's own token, or when its command falls silent. One change after
 * the other: of many who ask for the last GPU one gets it.
 */
export class Claims {
  readonly #folder: string
  readonly #tokens: Pick<Tokens, 'has'>
  readonly #turns = new Turns()
  #kept: HeadClaims
  #quotas: HeadQuotas['quotas']

  private constructor(folder: string, tokens: Pick<Tokens, 'has'>, kept: HeadClaims, quotas: HeadQuotas['quotas']) {
    this.#folder = folder
    this.#tokens = tokens
    this.#kept = kept
    this.#quotas = quotas
  }

  static async open(folder: string, tokens: Pick<Tokens, 'has'>): Promise<Claims> {
    const kept = await readDurable<HeadClaims>('head.claims', join(folder, 'claims.json'), {
      claims: {},
      ...EMPTY_LEDGER,
    })
    const {quotas} = await readDurable<HeadQuotas>('head.quotas', join(folder, QUOTAS_FILE), {quotas: {}})
    return new Claims(folder, tokens, kept, quotas)
  }

  /** Errors: 409 QUOTA with the sum, 409 CONFLICT where the run is somebody else's. */
  ask({wait = false, seen, ...wish}: ClaimWish, {user, teams}: Claimant): Promise<ClaimAnswer> {
    return this.#turns.take(async () => {
      const now = Date.now()
      await this.#sweep(now)
      const before = this.#own(wish.run, user)
      const {run, ...wanted} = wish
      const claim: HeadClaim = {...wanted, user, teams, state: 'waiting', since: before?.since ?? now, seenAt: now}
      // It is the run's until that is over: what it has counts as it was said then, whatever is asked now.
      if (before?.token !== undefined) return {state: 'held', over: [], passes: [], why: null}
      this.#requireRoom(run, claim)
      const overOf = this.#limits(now)
      const over = overOf(run, claim)
      const hard = over.filter((one) => !one.soft)
      if (hard.length > 0 && (!wait || hard.some(isForEver))) {
        await this.#remove(run)
        throw new Failure(409, 'QUOTA', hard.map((one) => one.text).join('; '), {over})
      }
      const turn = seen ? this.#turn(run, claim, {seen, overOf, now}) : undefined
      const isHeld = hard.length === 0 && (turn?.starts ?? true)
      const next: HeadClaim = isHeld ? {...claim, state: 'held', heldAt: before?.heldAt ?? now} : claim
      await this.#save({...this.#kept, claims: {...this.#kept.claims, [run]: next}})
      return {
        state: next.state,
        over: isHeld ? over.filter((one) => one.soft) : over,
        passes: isHeld ? (turn?.passes ?? []) : [],
        why: isHeld ? null : hard.length > 0 ? hard.map((one) => one.text).join('; ') : whyOf(turn),
      }
    })
  }

  /** From here on it lives as long as the run's own token. Errors: 409 QUOTA where nobody asked before. */
  bind(wish: ClaimWish, claimant: Claimant, issue: () => Promise<{id: string}>): Promise<void> {
    return this.#turns.take(async () => {
      const now = Date.now()
      await this.#sweep(now)
      const {run, parts, gpus, project, priority, limit} = wish
      const before = this.#own(run, claimant.user)
      const isAnew = before?.token !== undefined
      const claim: HeadClaim = {
        ...claimant,
        parts,
        gpus,
        project,
        priority,
        limit,
        state: 'held',
        since: before?.since ?? now,
        heldAt: (isAnew ? undefined : before?.heldAt) ?? now,
        seenAt: now,
      }
      this.#requireRoom(run, claim)
      const isGranted = before?.state === 'held' && before.project === project && before.gpus >= gpus
      const hard = isGranted ? [] : this.#limits(now)(run, claim).filter((one) => !one.soft)
      if (hard.length > 0) throw new Failure(409, 'QUOTA', hard.map((one) => one.text).join('; '), {over: hard})
      const {id} = await issue()
      const ledger = isAnew ? withEnded(this.#kept, before, now) : this.#kept // what it had so far
      await this.#save({...this.#kept, ...ledger, claims: {...this.#kept.claims, [run]: {...claim, token: id}}})
    })
  }

  /** Somebody has a quota. */
  get isLimited(): boolean {
    return Object.keys(this.#quotas).length > 0
  }

  /** The command is there: what it holds or waits for lives on. `user`: nothing, where it is somebody else's. */
  renew(run: string, user?: string): Promise<void> {
    return this.#turns.take(async () => {
      const claim = this.#of(run)
      if (claim && (user === undefined || claim.user === user))
        await this.#save({...this.#kept, claims: {...this.#kept.claims, [run]: {...claim, seenAt: Date.now()}}})
    })
  }

  /** Gives it back; nothing where there is none, a run has it, or it is somebody else's than `user`. */
  release(run: string, user?: string): Promise<void> {
    return this.#turns.take(async () => {
      const claim = this.#of(run)
      if (claim?.token === undefined && (user === undefined || claim?.user === user)) await this.#remove(run)
    })
  }

  /** Tells of claims whose runs are over, at the time when that is noticed. */
  sweep(): Promise<void> {
    return this.#turns.take(() => this.#sweep(Date.now()))
  }

  /** Who waits, in line, as far as this head knows who has what. */
  async queue(): Promise<QueuedRun[]> {
    await this.sweep()
    const now = Date.now()
    const facts = queueFacts(this.#claims(), {now, used: this.#used(now)})
    return turnsOf(facts).map((turn) => queuedRun(turn, this.#kept.claims[turn.run]!))
  }

  async uses(): Promise<QuotaUse[]> {
    await this.sweep()
    const held = this.#held()
    return quotaUses(this.#quotas, held, hoursNow(this.#kept, held, Date.now()))
  }

  /** Undefined: takes it away. Gives whether there was one. */
  setQuota(of: string, limits: QuotaLimits | undefined): Promise<boolean> {
    return this.#turns.take(async () => {
      const {[of]: before, ...others} = this.#quotas
      const quotas = limits ? {...others, [of]: limits} : others
      await writeDurably('head.quotas', join(this.#folder, QUOTAS_FILE), {quotas} satisfies HeadQuotas)
      this.#quotas = quotas
      return before !== undefined
    })
  }

  /** What is held now, and was this month, added up once: a question that has to wait is compared with everybody in line. */
  #limits(now: number): OverOf {
    const held = this.#held()
    const hours = hoursNow(this.#kept, held, now)
    return (run, claim) =>
      excesses(
        this.#quotas,
        held.filter((one) => one.run !== run),
        hours,
        claim,
      )
  }

  #turn(
    run: string,
    claim: HeadClaim,
    {seen, overOf, now}: {seen: NonNullable<ClaimWish['seen']>; overOf: OverOf; now: number},
  ): Turn | undefined {
    const others = this.#claims().filter(
      ([name, one]) => name !== run && (one.state === 'held' || !overOf(name, one).some((excess) => !excess.soft)),
    )
    const facts = queueFacts([...others, [run, claim]], {
      now,
      used: this.#used(now),
      asker: {run, parts: claim.parts, seen},
    })
    return turnsOf(facts).find((one) => one.run === run)
  }

  /** Errors: 429 where the user's claims are more than the head looks through at each question. */
  #requireRoom(run: string, claim: HeadClaim): void {
    const others = this.#claims().filter(([name, {user}]) => name !== run && user === claim.user)
    const sum = [...others.map(([, one]) => one), claim].reduce((all, {parts}) => all + EACH_CLAIM + sizeOf(parts), 0)
    if (sum > LARGEST_CLAIMS)
      throw new Failure(429, 'REFUSED', `${claim.user} claims more at once than the head keeps for one user`)
  }

  #used(now: number): Record<string, number> {
    return usedNow(this.#kept, this.#held(), now)
  }

  #of(run: string): HeadClaim | undefined {
    return Object.hasOwn(this.#kept.claims, run) ? this.#kept.claims[run] : undefined
  }

  /** Errors: 409 where it is somebody else's. */
  #own(run: string, user: string): HeadClaim | undefined {
    const claim = this.#of(run)
    if (claim && claim.user !== user) throw new Failure(409, 'CONFLICT', `run ${run} is ${claim.user}'s, not ${user}'s`)
    return claim
  }

  #claims(): [string, HeadClaim][] {
    return Object.entries(this.#kept.claims)
  }

  #held(): (HeadClaim & {run: string})[] {
    return this.#claims().flatMap(([run, one]) => (one.state === 'held' ? [{run, ...one}] : []))
  }

  async #sweep(now: number): Promise<void> {
    const over = this.#claims().filter(([, {token, state, seenAt}]) =>
      token === undefined ? now - seenAt > SILENT_MS[state] : !this.#tokens.has(token),
    )
    if (over.length > 0)
      await this.#removeAll(
        over.map(([run]) => run),
        now,
      )
  }

  async #remove(run: string): Promise<void> {
    if (this.#of(run)) await this.#removeAll([run], Date.now())
  }

  async #removeAll(runs: readonly string[], now: number): Promise<void> {
    let ledger = {used: this.#kept.used, month: this.#kept.month, hours: this.#kept.hours}
    // what never became a run had nothing
    for (const run of runs) {
      const claim = this.#kept.claims[run]
      if (claim?.token !== undefined) ledger = withEnded(ledger, claim, now)
    }
    const claims = Object.fromEntries(this.#claims().filter(([run]) => !runs.includes(run)))
    await this.#save({claims, ...ledger})
  }

  async #save(next: HeadClaims): Promise<void> {
    await writeDurably('head.claims', join(this.#folder, 'claims.json'), next)
    this.#kept = next
  }
}

/** Waiting does not help: the run alone is over it, or the month has no hours left. */
function isForEver({what, more, most}: Excess): boolean {
  return what === 'gpu_hours' || more > most
}

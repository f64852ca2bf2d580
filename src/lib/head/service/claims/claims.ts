import {join} from 'node:path'
import {turnsOf} from '../../../fairness/index.ts'
import type {HeadClaim, HeadClaims, HeadHolding} from '../../../protocol/index.ts'
import type {
  ClaimAnswer,
  ClaimOutlook,
  ClaimWish,
  OutlookWish,
  QueuedRun,
  QuotaUse,
  RunWord,
  RunWordAnswer,
} from '../../types.ts'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import type {Tokens} from '../tokens/tokens.ts'
import type {Claimant} from './claimant.ts'
import {corrected, END_MS, knownNodes, requireSpace, Witnesses, type ClaimNews} from './confirm.ts'
import {isForEver, limitsOf, plannedSums, quotaUses} from './check.ts'
import {newlyTold, offersTo, roomOf, whoYields, withTold, type Heard, type RoomFacts} from './room.ts'
import {queueFacts, SILENT_MS, turnOf, type OverOf} from './facts.ts'
import {EMPTY_LEDGER, hoursNow, usedNow, withCorrected, withEnded, without} from './ledger.ts'
import type {Quotas} from './quotas.ts'
import {wantedOf} from './wish.ts'
import {overText, queuedRun, whyOf} from './words.ts'

/** What claims are checked by. `beside`: what people have beside runs. */
interface ClaimsNeed {
  tokens: Pick<Tokens, 'has' | 'revoke'>
  quotas: Quotas
  beside: () => readonly HeadHolding[]
}

/**
 * What runs have and wait for. A claim ends with the run's own token, or when its command falls silent. One change after
 * the other: of many who ask for the last GPU one gets it.
 */
export class Claims {
  readonly #folder: string
  readonly #tokens: ClaimsNeed['tokens']
  readonly #turns = new Turns()
  #kept: HeadClaims
  readonly #quotas: Quotas
  readonly #beside: ClaimsNeed['beside']
  /** What runs that may make room say of themselves. */
  readonly #heard = new Map<string, Heard>()
  readonly #witnesses = new Witnesses()
  #tell: ClaimNews = {room() {}, differs() {}}

  private constructor(folder: string, kept: HeadClaims, {tokens, quotas, beside}: ClaimsNeed) {
    this.#folder = folder
    this.#tokens = tokens
    this.#kept = kept
    this.#quotas = quotas
    this.#beside = beside
  }

  static async open(folder: string, need: ClaimsNeed): Promise<Claims> {
    const none = {claims: {}, ...EMPTY_LEDGER}
    return new Claims(folder, await readDurable<HeadClaims>('head.claims', join(folder, 'claims.json'), none), need)
  }

  /** Errors: 409 QUOTA with the sum, 409 CONFLICT where the run is somebody else's. */
  ask(wish: ClaimWish, claimant: Claimant): Promise<ClaimAnswer> {
    const {user} = claimant
    return this.#turns.take(async () => {
      const now = Date.now()
      await this.#sweep(now)
      const {run, wait = false, seen} = wish
      const before = this.#own(run, user)
      const since = before?.since ?? now
      const claim: HeadClaim = {...wantedOf(wish), ...claimant, state: 'waiting', since, seenAt: now}
      for (const one of seen ?? []) this.#witnesses.compare(one, this.#of(one.run), user, this.#tell)
      // It is the run's until that is over: what it has counts as it was said then, whatever is asked now.
      if (before?.token !== undefined) return {state: 'held', over: [], passes: [], why: null}
      requireSpace(run, claim, this.#claims())
      const overOf = this.#limits(now)
      const over = overOf(run, claim)
      const hard = over.filter((one) => !one.soft)
      if (hard.length > 0 && (!wait || hard.some(isForEver))) {
        await this.#remove(run)
        throw new Failure(409, 'QUOTA', overText(hard), {over})
      }
      const facts = this.#roomFacts(now)
      const turn = seen ? turnOf(run, claim, this.#claims(), {...facts, overOf, seen}) : undefined
      const isHeld = hard.length === 0 && (turn?.starts ?? true)
      const next: HeadClaim = isHeld ? {...claim, state: 'held', heldAt: before?.heldAt ?? now} : claim
      const room = turn && wait && hard.length === 0 ? whoYields(turn, claim, this.#claims(), {...facts, overOf}) : []
      // One that only says that it is there has not looked who has what. A name in line for the first time has told nobody.
      const claims = turn || isHeld || !before ? this.#withRoom(room, run, user) : this.#kept.claims
      await this.#save({...this.#kept, claims: {...claims, [run]: next}})
      return {
        state: next.state,
        over: isHeld ? over.filter((one) => one.soft) : over,
        passes: isHeld ? (turn?.passes ?? []) : [],
        why: isHeld ? null : overText(hard) || whyOf(turn, room),
      }
    })
  }

  /**
   * What a run says, by its own token; a preemptible one hears whether it is to make room. Once it has, it waits in line as
   * it did before it began. Errors: 404 where it has no claim, 409 CLAIM_DIFFERS where its nodes gave it more than that:
   * it is to end.
   */
  say(token: string, {saved, away, has}: RunWord): Promise<RunWordAnswer> {
    return this.#turns.take(async () => {
      const now = Date.now()
      const [run, claim] = this.ofToken(token)
      if (!away) await this.#requireTrue(run, claim, has, now)
      if (claim.preemptible !== true) {
        if (away)
          throw new Failure(409, 'CONFLICT', 'this run makes no room: it is not preemptible (train.preemptible)')
        return {state: claim.state, room: null, passes: [], why: null}
      }
      this.#heard.set(run, {saved: saved === null ? null : now - saved * 1000, at: now})
      if (!away) return {state: claim.state, room: roomOf(claim, new Map(this.#claims())), passes: [], why: null}
      await this.#sweep(now)
      const {heldAt: _heldAt, yields: _yields, ...others} = claim
      const waits: HeadClaim = {...others, state: 'waiting', seenAt: now}
      const kept = claim.state === 'held' ? {...this.#kept, ...withEnded(this.#kept, claim, now)} : this.#kept
      await this.#save({...kept, claims: {...kept.claims, [run]: waits}})
      const overOf = this.#limits(now)
      const hard = overOf(run, waits).filter((one) => !one.soft)
      const turn = turnOf(run, waits, this.#claims(), {overOf, now, used: this.#used(now)})
      const isHeld = hard.length === 0 && turn?.starts === true
      if (!isHeld) return {state: 'waiting', room: null, passes: [], why: overText(hard) || whyOf(turn)}
      const next: HeadClaim = {...waits, state: 'held', heldAt: now}
      await this.#save({...this.#kept, claims: {...this.#kept.claims, [run]: next}})
      return {state: 'held', room: null, passes: turn.passes, why: null}
    })
  }

  /** Whose a run is, by its own token. Errors: 404. */
  ofToken(token: string): [run: string, claim: HeadClaim] {
    const found = this.#claims().find(([, one]) => one.token === token)
    if (found) return found
    throw new Failure(404, 'NOT_FOUND', 'this run has no claim: it says nothing of what it has')
  }

  /** What a run would come to, and who would make room for it. */
  async outlook(wish: OutlookWish, claimant: Claimant): Promise<ClaimOutlook> {
    await this.sweep()
    const [now, held] = [Date.now(), this.#held()]
    const [hours, beside] = [hoursNow(this.#kept, held, now), this.#beside()]
    return {
      sums: plannedSums(this.#quotas.all, held, hours, {...wish, ...claimant}, beside),
      room: offersTo({...claimant, ...wish}, this.#claims(), this.#roomFacts(now)),
    }
  }

  whenNews(tell: ClaimNews): void {
    this.#tell = tell
  }

  /** From here on it lives as long as the run's own token. Errors: 409 QUOTA where nobody asked before. */
  bind(wish: ClaimWish, claimant: Claimant, issue: () => Promise<{id: string}>): Promise<void> {
    return this.#turns.take(async () => {
      const now = Date.now()
      await this.#sweep(now)
      const [{run, gpus, project}, {user}] = [wish, claimant]
      const before = this.#own(run, user)
      const isAnew = before?.token !== undefined
      const claim: HeadClaim = {
        ...claimant,
        ...wantedOf(wish),
        state: 'held',
        since: before?.since ?? now,
        heldAt: (isAnew ? undefined : before?.heldAt) ?? now,
        seenAt: now,
      }
      requireSpace(run, claim, this.#claims())
      const isGranted = before?.state === 'held' && before.project === project && before.gpus >= gpus
      const hard = isGranted ? [] : this.#limits(now)(run, claim).filter((one) => !one.soft)
      if (hard.length > 0) throw new Failure(409, 'QUOTA', overText(hard), {over: hard})
      const {id} = await issue()
      const kept = isAnew ? {...this.#kept, ...withEnded(this.#kept, before, now)} : this.#kept // what it had so far
      await this.#save({...kept, claims: {...this.#withRoom([], run, user), [run]: {...claim, token: id}}})
    })
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
    return quotaUses(this.#quotas.all, held, hoursNow(this.#kept, held, Date.now()), this.#beside())
  }

  /** What is held now, and was this month, added up once: a question that has to wait is compared with everybody in line. */
  #limits(now: number): OverOf {
    const held = this.#held()
    return limitsOf(this.#quotas.all, held, hoursNow(this.#kept, held, now), this.#beside())
  }

  #withRoom(runs: readonly string[], preemptor: string, user: string): HeadClaims['claims'] {
    const told = newlyTold(runs, this.#claims())
    if (told.length > 0) this.#tell.room(told, preemptor, user)
    return withTold(this.#kept.claims, {told, runs, preemptor})
  }

  #roomFacts(now: number): RoomFacts {
    return {now, used: this.#used(now), heard: this.#heard}
  }

  /** Errors: 409 CLAIM_DIFFERS. */
  async #requireTrue(run: string, claim: HeadClaim, has: RunWord['has'], now: number): Promise<void> {
    const more = claim.differs || !has ? null : corrected(claim, has, {known: knownNodes(this.#claims()), now})
    if (more) {
      this.#tell.differs(run, more.differs.why)
      await this.#save(withCorrected(this.#kept, run, more, now))
    }
    const differs = more?.differs ?? claim.differs
    if (differs) throw new Failure(409, 'CLAIM_DIFFERS', `${differs.why}; the head ends it`)
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
    for (const [run, claim] of this.#claims()) this.#witnesses.late(run, claim, now, this.#tell)
    for (const [, {token, differs}] of this.#claims())
      if (token !== undefined && differs && now - differs.at > END_MS && this.#tokens.has(token))
        await this.#tokens.revoke(token)
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
    for (const run of runs) {
      this.#heard.delete(run)
      this.#witnesses.forget(run)
    }
    await this.#save(without(this.#kept, runs, now))
  }

  async #save(next: HeadClaims): Promise<void> {
    await writeDurably('head.claims', join(this.#folder, 'claims.json'), next)
    this.#kept = next
  }
}

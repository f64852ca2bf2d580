import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import type {HeadHolding, HeadHoldings, HeldAmounts} from '../../../protocol/index.ts'
import type {QuotaSum} from '../../types.ts'
import {holdingSums} from '../claims/check.ts'
import type {Quotas} from '../claims/quotas.ts'
import {overText} from '../claims/words.ts'
import {Failure} from '../failure.ts'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'

/** Of one user: the head looks through all of them at each question. */
const MOST_OF_ONE = 1000
/** So long something may be on its way to its node. Milliseconds. */
const COMING_MS = 900_000

export type Wanted = Pick<HeadHolding, 'user' | 'teams' | 'project' | 'amounts' | 'until'>

/** What people have beside runs, by kind and name. One change after the other: of many who ask for the last one gets it. */
export class Holdings {
  readonly #file: string
  readonly #quotas: Quotas
  readonly #turns = new Turns()
  #kept: HeadHoldings['holdings']
  /** What the head has looked up itself; not kept. */
  #measured: HeadHoldings['holdings'] = {}

  private constructor(file: string, quotas: Quotas, kept: HeadHoldings['holdings']) {
    this.#file = file
    this.#quotas = quotas
    this.#kept = kept
  }

  static async open(folder: string, quotas: Quotas): Promise<Holdings> {
    const file = join(folder, 'holdings.json')
    const {holdings} = await readDurable<HeadHoldings>('head.holdings', file, {holdings: {}})
    return new Holdings(file, quotas, holdings)
  }

  /** What has not ended. */
  get all(): HeadHolding[] {
    return [...Object.values(this.#living(Date.now())), ...Object.values(this.#measured)]
  }

  /** Names of a kind that one user has, for long enough that each is there by now, or has ended. */
  namesOf(kind: string, user: string): string[] {
    const [before, now] = [`${kind} ${user} `, Date.now()]
    return Object.entries(this.#living(now)).flatMap(([name, {since}]) =>
      name.startsWith(before) && now - since > COMING_MS ? [name.slice(before.length)] : [],
    )
  }

  /** What it would come to; `names`: what it replaces, all together. Errors: 429, as `take`. */
  sums(names: readonly string[], wanted: Wanted): QuotaSum[] {
    const living = Object.entries(this.#living(Date.now()))
    const replaced = new Set(names)
    const [first, ...more] = living.flatMap(([name, one]) => (replaced.has(name) ? [one] : []))
    const kept = living.flatMap(([name, one]) => (replaced.has(name) ? [] : [one]))
    requireRoom(kept, first?.user ?? wanted.user, replaced.size)
    const others = [...kept, ...Object.values(this.#measured)]
    const before = more.reduce((sum, {amounts}) => added(sum, amounts), first?.amounts ?? {})
    return holdingSums(this.#quotas.all, others, ownedBy(first, wanted), before)
  }

  /**
   * Counts all of these, once `work` has done what they are counted for; whose one was it stays. Gives the soft limits that
   * they are over. Errors: 409 QUOTA with the sum, 429, and those of `work`.
   */
  take<T>(
    items: readonly (readonly [name: string, wanted: Wanted])[],
    work: () => Promise<T>,
  ): Promise<{value: T; soft: QuotaSum[]}> {
    return this.#turns.take(async () => {
      const now = Date.now()
      let next = this.#living(now)
      const measured = Object.values(this.#measured)
      const over: QuotaSum[] = []
      for (const [name, wanted] of items) {
        const {[name]: before, ...others} = next
        const owned = ownedBy(before, wanted)
        const kept = Object.values(others)
        over.push(
          ...holdingSums(this.#quotas.all, [...kept, ...measured], owned, before?.amounts).filter((one) => one.over),
        )
        if (!before) requireRoom(kept, owned.user)
        next = {...others, [name]: {...owned, since: now}}
      }
      const hard = over.filter((one) => !one.soft)
      if (hard.length > 0) throw new Failure(409, 'QUOTA', overText(hard), {over: hard})
      const value = await work()
      await this.#save(next)
      return {value, soft: over}
    })
  }

  /** How much there is of it, as somebody has looked: nothing is refused, as it is there. Errors: 429. */
  note(name: string, wanted: Wanted): Promise<void> {
    return this.#turns.take(async () => {
      const {[name]: before, ...others} = this.#living(Date.now())
      const isNone = Object.values(wanted.amounts).every((amount) => amount === 0)
      if (isDeepStrictEqual(before?.amounts, wanted.amounts) || (!before && isNone)) return
      if (isNone) return this.#save(others)
      if (!before) requireRoom(Object.values(others), wanted.user)
      await this.#save({...others, [name]: {...wanted, since: Date.now()}})
    })
  }

  /** What was counted for a change that does not come: as it was, or no more where that is undefined. */
  restore(name: string, amounts: HeldAmounts | undefined): Promise<void> {
    return this.#turns.take(async () => {
      const {[name]: counted, ...others} = this.#kept
      if (counted) await this.#save(amounts ? {...others, [name]: {...counted, amounts}} : others)
    })
  }

  /**
   * They are there no more, once `work` has taken them away: nobody who makes one of that name anew is counted in between.
   * Errors: those of `work`.
   */
  release(names: readonly string[], work?: () => Promise<void>): Promise<void> {
    return this.#turns.take(async () => {
      await work?.()
      const left = Object.entries(this.#kept).filter(([name]) => !names.includes(name))
      if (left.length < Object.keys(this.#kept).length) await this.#save(Object.fromEntries(left))
    })
  }

  /** In the place of what was measured before. */
  measured(holdings: HeadHoldings['holdings']): void {
    this.#measured = holdings
  }

  #living(now: number): HeadHoldings['holdings'] {
    return Object.fromEntries(Object.entries(this.#kept).filter(([, {until}]) => until === undefined || until > now))
  }

  async #save(holdings: HeadHoldings['holdings']): Promise<void> {
    await writeDurably('head.holdings', this.#file, {holdings} satisfies HeadHoldings)
    this.#kept = holdings
  }
}

/** Errors: 429. */
function requireRoom(others: readonly HeadHolding[], user: string, more = 1): void {
  if (others.filter((one) => one.user === user).length + more > MOST_OF_ONE)
    throw new Failure(
      429,
      'REFUSED',
      `${user} would have more at once than the ${MOST_OF_ONE} that are kept for one user`,
    )
}

function added(one: HeldAmounts, more: HeldAmounts): HeldAmounts {
  const names = Object.keys({...one, ...more}) as (keyof HeldAmounts)[]
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (more[name] ?? 0)]))
}

/** Whose one was it stays, whoever changes it. Pure. */
function ownedBy(before: HeadHolding | undefined, wanted: Wanted): Wanted {
  return before ? {...wanted, user: before.user, teams: before.teams, project: before.project} : wanted
}

import {QUOTA_WORDS, quotaAmount} from '../../../base/index.ts'
import type {HeadClaim, HeadHolding, QuotaLimits} from '../../../protocol/index.ts'
import type {Excess, QuotaSum, QuotaUse} from '../../types.ts'

/** What is asked for. `limit`: seconds that it takes at most. */
export type Asked = Pick<HeadClaim, 'user' | 'teams' | 'project' | 'gpus' | 'limit'>
export type Counted = Asked & {run: string}

type Quotas = Readonly<Record<string, QuotaLimits>>
const UNITS = {...QUOTA_WORDS, gpu_hours: 'GPU hours of this month'} as const
const WHATS = ['gpus', 'gpu_hours', 'runs'] as const
/** A run adds nothing to disk that is known before: it is not to begin where there is more than is allowed already. */
const RUN_WHATS = [...WHATS, 'disk'] as const
const HELD_WHATS = ['notebooks', 'endpoints', 'servers', 'disk'] as const

/**
 * Every limit that a run would be over, with the sum. `counted`: what is held now; `hours`: GPU hours of this month, by
 * the names that quotas have; `beside`: what is held beside runs. Pure.
 */
export function excesses(
  quotas: Quotas,
  counted: readonly Counted[],
  hours: Readonly<Record<string, number>>,
  asked: Asked,
  beside: readonly HeadHolding[] = [],
): Excess[] {
  return quotaSums(quotas, counted, hours, asked, beside).flatMap(({over, ...excess}) =>
    over && (excess.more > 0 || isUsedUp(excess.what)) ? [excess] : [],
  )
}

/** The same of a run among those that are held, added up once. Pure. */
export function limitsOf(
  quotas: Quotas,
  held: readonly Counted[],
  hours: Readonly<Record<string, number>>,
  beside: readonly HeadHolding[],
): (run: string, asked: Asked) => Excess[] {
  return (run, asked) => {
    const others = held.filter((one) => one.run !== run)
    return excesses(quotas, others, hours, asked, beside)
  }
}

/** Every limit that counts for a run, and what it would come to. Pure. */
export function quotaSums(
  quotas: Quotas,
  counted: readonly Counted[],
  hours: Readonly<Record<string, number>>,
  asked: Asked,
  beside: readonly HeadHolding[],
): QuotaSum[] {
  return namesOf(asked).flatMap((name) =>
    RUN_WHATS.flatMap((what): QuotaSum[] => {
      const limit = limitOf(quotas, name, what)
      if (!limit) return []
      const have = what === 'disk' ? heldBy(beside, name, what) : whatIsHad(counted, hours, name, what)
      const more = {runs: 1, gpus: asked.gpus, gpu_hours: ((asked.limit ?? 0) * asked.gpus) / 3600, disk: 0}[what]
      const over =
        what === 'gpu_hours' && asked.limit === null
          ? asked.gpus > 0 && have.sum >= limit.most
          : have.sum + more > limit.most + 1e-9
      const sum = {
        of: name,
        what,
        have: rounded(have.sum),
        more: rounded(more),
        most: limit.most,
        soft: limit.soft === true,
        by: have.by,
      }
      return [{...sum, over, text: textOf(sum, over)}]
    }),
  )
}

/** The same for a run that is planned; where nobody knows its GPUs yet, of those nothing is said. Pure. */
export function plannedSums(
  quotas: Quotas,
  counted: readonly Counted[],
  hours: Readonly<Record<string, number>>,
  asked: Omit<Asked, 'gpus'> & {gpus: number | null},
  beside: readonly HeadHolding[],
): QuotaSum[] {
  const sums = quotaSums(quotas, counted, hours, {...asked, gpus: asked.gpus ?? 0}, beside)
  return sums.filter(({what}) => asked.gpus !== null || what === 'runs' || what === 'disk')
}

/** Waiting does not help: the run alone is over it, or the month has no hours left. Pure. */
export function isForEver({what, more, most}: Excess): boolean {
  return what === 'gpu_hours' || more > most
}

/** The same for what somebody has beside runs. `others`: all but itself; `before`: what it has counted so far. Pure. */
export function holdingSums(
  quotas: Quotas,
  others: readonly HeadHolding[],
  asked: Pick<HeadHolding, 'user' | 'teams' | 'project' | 'amounts'>,
  before: HeadHolding['amounts'] = {},
): QuotaSum[] {
  return namesOf(asked).flatMap((of) =>
    HELD_WHATS.flatMap((what): QuotaSum[] => {
      const [limit, more] = [limitOf(quotas, of, what), asked.amounts[what]]
      if (!limit || more === undefined) return []
      const {sum: have, by} = heldBy(others, of, what)
      // what gets smaller, or stays, is let be
      const over = have + more > limit.most && more > (before[what] ?? 0)
      const sum = {of, what, have, more, most: limit.most, soft: limit.soft === true, by}
      return [{...sum, over, text: textOf(sum, over)}]
    }),
  )
}

/** What each quota allows, and what of it is used. Pure. */
export function quotaUses(
  quotas: Quotas,
  counted: readonly Counted[],
  hours: Readonly<Record<string, number>>,
  held: readonly HeadHolding[] = [],
): QuotaUse[] {
  const had = (of: string, what: keyof QuotaLimits): {sum: number; by: Record<string, number>} => {
    const own = HELD_WHATS.find((one) => one === what)
    return own ? heldBy(held, of, own) : whatIsHad(counted, hours, of, what as (typeof WHATS)[number])
  }
  return Object.entries(quotas).map(([of, limits]) => ({
    of,
    limits: [...WHATS, ...HELD_WHATS].flatMap((what) => {
      const limit = limits[what]
      if (!limit) return []
      const {sum, by} = of === 'user:*' ? {sum: null, by: {}} : had(of, what)
      return [{what, most: limit.most, soft: limit.soft === true, have: sum === null ? null : rounded(sum), by}]
    }),
  }))
}

/** The names that may have quotas for it. Pure. */
export function namesOf({user, teams, project}: Pick<Asked, 'user' | 'teams' | 'project'>): string[] {
  return [`user:${user}`, ...teams.map((team) => `team:${team}`), `project:${project}`]
}

function limitOf(quotas: Quotas, name: string, what: keyof QuotaLimits): {most: number; soft?: boolean} | undefined {
  const own = Object.hasOwn(quotas, name) ? quotas[name]?.[what] : undefined
  return own ?? (name.startsWith('user:') ? quotas['user:*']?.[what] : undefined)
}

function whatIsHad(
  counted: readonly Counted[],
  hours: Readonly<Record<string, number>>,
  name: string,
  what: (typeof WHATS)[number],
): {sum: number; by: Record<string, number>} {
  if (what === 'gpu_hours') return {sum: hours[name] ?? 0, by: {}}
  const by = new Map<string, number>() // somebody may be called constructor
  for (const one of counted.filter((each) => namesOf(each).includes(name))) {
    const number = what === 'runs' ? 1 : one.gpus
    if (number > 0) by.set(one.user, rounded((by.get(one.user) ?? 0) + number))
  }
  return {sum: [...by.values()].reduce((sum, number) => sum + number, 0), by: Object.fromEntries(by)}
}

function heldBy(
  held: readonly HeadHolding[],
  name: string,
  what: (typeof HELD_WHATS)[number],
): {sum: number; by: Record<string, number>} {
  const by = new Map<string, number>() // somebody may be called constructor
  for (const one of held) {
    const number = one.amounts[what] ?? 0
    if (number > 0 && namesOf(one).includes(name)) by.set(one.user, (by.get(one.user) ?? 0) + number)
  }
  return {sum: [...by.values()].reduce((sum, number) => sum + number, 0), by: Object.fromEntries(by)}
}

/** `GPUs of team vision: 6 (alice 4, bob 2) + 4 > 8`, or `2 (bob 2) + 4 of 8`: the numbers add up. */
function textOf({of, what, have, more, most, by}: Omit<Excess, 'text'>, over: boolean): string {
  const [kind, name] = [of.slice(0, of.indexOf(':')), of.slice(of.indexOf(':') + 1)]
  const amount = (number: number): number => quotaAmount(what, number)
  const people = Object.entries(by).map(([user, number]) => `${user} ${amount(number)}`)
  const whose = kind === 'user' || people.length === 0 ? '' : ` (${people.join(', ')})`
  const sum =
    isUsedUp(what) && more === 0
      ? `${amount(have)}${whose} of ${amount(most)} are used`
      : `${amount(have)}${whose} + ${amount(more)} ${over ? '>' : 'of'} ${amount(most)}`
  return `${UNITS[what]} of ${kind} ${name}: ${sum}`
}

/** Nothing more need be asked for: where it is used up no run begins. */
function isUsedUp(what: keyof QuotaLimits): boolean {
  return what === 'gpu_hours' || what === 'disk'
}

function rounded(number: number): number {
  return Math.round(number * 100) / 100
}

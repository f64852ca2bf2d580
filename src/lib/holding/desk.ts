import {CliError, isCliError, type Context} from '../base/index.ts'
import {
  connectHead,
  type HeadConnection,
  type HoldOutlook,
  type HoldWish,
  type KeptWish,
  type QuotaSum,
} from '../head/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

const PATH = '/flexrack/v1/holdings'
/** Such a head decides nothing: it is away, or of an older version. */
const SILENT = ['NODE_UNREACHABLE', 'HEAD_FAILED', 'TIMED_OUT'] as const

/** What is counted at the head beside runs, on a rack that has quotas. */
export interface QuotaDesk {
  /** Every limit that counts for it, and what it would come to. */
  sums(wish: HoldOutlook): Promise<QuotaSum[]>
  /**
   * Counts it. `gone`: of the names that the head still counts for this user, those that are there no more; asked only where
   * it would be refused. Errors: QUOTA with the sum, REFUSED by the role in the project.
   */
  hold(wish: HoldWish, hint: string, gone: (names: string[]) => Promise<string[]>): Promise<void>
  /** What runs keep on a node now, as it was looked at there; never throws. */
  kept(what: KeptWish): Promise<void>
  /** Counts them no more; never throws. */
  release(what: Pick<HoldWish, 'kind' | 'project'>, names: readonly string[]): Promise<void>
}

/**
 * Undefined: the rack has no head, or no quotas, or its head does not answer, which is told. `open`: a connection to it that
 * lives as long as the desk is used; without one each question makes its own. Errors: those of requests.
 */
export async function openDesk(
  {rack, fleet}: {rack: Rack; fleet: Fleet},
  context: Context,
  open?: HeadConnection,
): Promise<QuotaDesk | undefined> {
  const atHead = async <T>(work: (head: HeadConnection) => T | Promise<T>): Promise<T> => {
    if (open) return work(open)
    const head = await connectHead(rack, fleet, context)
    try {
      return await work(head)
    } finally {
      await head.close()
    }
  }
  const ask = <T>(path: string, body: object): Promise<T> =>
    atHead((head) => head.request<T>('POST', `${PATH}${path}`, body))
  try {
    if (!(await atHead(({quotas}) => quotas))) return undefined
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    if (!isCliError(error, ...SILENT)) throw error
    context.reporter.warn(`${error.message}: its quotas are not asked`)
    return undefined
  }
  const release: QuotaDesk['release'] = async ({kind, project}, names) => {
    if (names.length > 0) await ask('/release', {kind, project, names}).catch(() => {})
  }
  const take = async (wish: HoldWish): Promise<void> => {
    const {over} = await ask<{over: QuotaSum[]}>('', wish)
    for (const {text} of over) context.reporter.warn(`over a soft quota: ${text}`)
  }
  return {
    release,
    kept: async (what) => void (await ask('/kept', what).catch(() => {})),
    async sums(wish) {
      try {
        return (await ask<{sums: QuotaSum[]}>('/outlook', wish)).sums
      } catch (error) {
        if (isCliError(error, 'NOT_FOUND', ...SILENT)) return [] // a head of an older version counts none of it
        throw error
      }
    },
    async hold(wish, hint, gone) {
      try {
        await take(wish).catch(async (error: unknown) => {
          if (!isCliError(error, 'QUOTA')) throw error
          const own = ((error.details as {own?: string[]} | undefined)?.own ?? []).filter((one) => one !== wish.name)
          const over = await gone(own)
          if (over.length === 0) throw error
          await release(wish, over)
          await take(wish)
        })
      } catch (error) {
        if (isCliError(error, 'NOT_FOUND', ...SILENT)) return
        if (isCliError(error, 'REFUSED') && error.message.includes(`of project ${wish.project}`))
          throw new CliError('REFUSED', error.message, {
            hint: `it counts for project ${wish.project}; -C FOLDER says which project of yours it is for`,
            details: error.details,
          })
        if (!isCliError(error, 'QUOTA')) throw error
        throw new CliError('QUOTA', error.message, {hint, details: error.details})
      }
    },
  }
}

/** For a step's title. Pure. */
export function sumsText(sums: readonly QuotaSum[]): string {
  return sums
    .map(({text, over, soft}) =>
      over ? `${soft ? 'over a soft quota' : 'over a quota, so it is refused'}: ${text}` : text,
    )
    .join('; ')
}

import {CliError, isQuotaName, QUOTA_WORDS, quotaAmount, type Context} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {executePlan, throwIfFailed, type Handlers, type PlanOf} from '../plan/index.ts'
import type {QuotaLimits} from '../protocol/index.ts'

/** What `quota set` and `quota remove` change; null: there is none any more. */
export type QuotaChange = {of: string; limits: QuotaLimits | null}

export type QuotaKinds = {'quota.set': {input: QuotaChange; output: QuotaChange}}

const HANDLERS: Handlers<QuotaKinds, {head: Pick<HeadConnection, 'request'>}> = {'quota.set': set}
const ALLOWED: Partial<Record<keyof QuotaLimits, string>> = {gpu_hours: 'GPU hours a month', disk: QUOTA_WORDS.disk}
const FLAGS = Object.keys(QUOTA_WORDS).map((what) => `--${what.replaceAll('_', '-')}`)

/** Errors: USAGE for who or what there is no quota of. Pure. */
export function planQuota(command: string, node: string, {of, limits}: QuotaChange): PlanOf<QuotaKinds> {
  if (!isQuotaName(of))
    throw new CliError(
      'USAGE',
      `"${of}" is nobody who may have a quota: user:NAME, user:* (each user), team:NAME, project:NAME`,
    )
  if (limits && Object.keys(limits).length === 0)
    throw new CliError('USAGE', `a quota limits something: ${FLAGS.slice(0, -1).join(', ')} or ${FLAGS.at(-1)}`)
  const title = limits ? `Allow ${of} at most ${limitsText(limits)}` : `Take the quota of ${of} away`
  return {command, steps: [{id: 'quota', node, kind: 'quota.set', title, input: {of, limits}, needs: []}]}
}

/** Errors: those of the connection's request; NOT_FOUND for a quota that is not there. */
export async function carryOutQuota(
  plan: PlanOf<QuotaKinds>,
  head: Pick<HeadConnection, 'request'>,
  context: Context,
): Promise<QuotaChange> {
  throwIfFailed(await executePlan(plan, HANDLERS, {head}, context))
  return plan.steps[0]!.input as QuotaChange
}

function limitsText(limits: QuotaLimits): string {
  const words = Object.entries(limits).map(([name, {most, soft}]) => {
    const what = name as keyof QuotaLimits
    return `${quotaAmount(what, most)} ${ALLOWED[what] ?? `${QUOTA_WORDS[what]} at once`}${soft ? ' (soft)' : ''}`
  })
  return words.join(', ')
}

async function set(
  change: QuotaChange,
  _done: unknown,
  {head}: {head: Pick<HeadConnection, 'request'>},
): Promise<QuotaChange> {
  const path = `/flexrack/v1/quotas/${encodeURIComponent(change.of)}`
  await (change.limits ? head.request('PUT', path, change.limits) : head.request('DELETE', path))
  return change
}

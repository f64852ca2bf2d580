import {CliError, isQuotaName, quotaAmount, type Context} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {executePlan, throwIfFailed, type Handlers, type PlanOf} from '../plan/index.ts'
import type {QuotaLimits} from '../protocol/index.ts'

/** What `quota set` and `quota remove` change; null: there is none any more. */
export type QuotaChange = {of: string; limits: QuotaLimits | null}

export type QuotaKinds = {'quota.set': {input: QuotaChange; output: QuotaChange}}

const HANDLERS: Handlers<QuotaKinds, {head: Pick<HeadConnection, 'request'>}> = {'quota.set': set}
const WORDS = {
  gpus: 'GPUs at once',
  gpu_hours: 'GPU hours a month',
  runs: 'runs at once',
  notebooks: 'notebooks at once',
  endpoints: 'endpoints at once',
  servers: 'model servers at once',
  disk: 'GiB of disk',
} as const

/** Errors: USAGE for who or what there is no quota of. Pure. */
export function planQuota(command: string, node: string, {of, limits}: QuotaChange): PlanOf<QuotaKinds> {
  if (!isQuotaName(of))
    throw new CliError(
      'USAGE',
      `"${of}" is nobody who may have a quota: user:NAME, user:* (each user), team:NAME, project:NAME`,
    )
  if (limits && Object.keys(limits).length === 0)
    throw new CliError(
      'USAGE',
      'a quota limits something: --gpus, --gpu-hours, --runs, --notebooks, --endpoints, --servers or --disk',
    )
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
  const words = Object.entries(limits).map(
    ([what, {most, soft}]) =>
      `${quotaAmount(what as keyof QuotaLimits, most)} ${WORDS[what as keyof QuotaLimits]}${soft ? ' (soft)' : ''}`,
  )
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

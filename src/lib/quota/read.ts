import {isCliError, type Context} from '../base/index.ts'
import {
  connectHead,
  type ClaimOutlook,
  type HeadConnection,
  type OutlookWish,
  type QuotaUse,
  type QueuedRun,
} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import type {SlurmLimits} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

export interface QuotaReport {
  rack: string
  quotas: QuotaUse[]
  /** Artifacts of runs and models are in a store elsewhere (`head.artifacts`), and count for no quota of disk. */
  artifacts_elsewhere: boolean
  /** Where Slurm places jobs: its own limits for this account, which it alone keeps to. */
  slurm: SlurmLimits | null
}

type HeadQuotaAnswer = Pick<QuotaReport, 'quotas' | 'artifacts_elsewhere'>

/**
 * What the head limits, and Slurm, where the rack has it. A rack whose jobs Slurm places needs no head. Errors: those of
 * connectHead, and of the login node.
 */
export async function readQuotas({rack, fleet}: {rack: Rack; fleet: Fleet}, context: Context): Promise<QuotaReport> {
  const login = rack.nodes.find((node) => node.name === rack.slurm?.login)
  const [own, slurm] = await Promise.all([
    headQuotas(rack, fleet, context),
    login
      ? openHost(fleet, login, context).then((host) =>
          host.call('slurm.limits', {bin: rack.slurm?.bin}, {signal: context.signal}),
        )
      : null,
  ])
  return {rack: rack.name, ...own, slurm}
}

async function headQuotas(rack: Rack, fleet: Fleet, context: Context): Promise<HeadQuotaAnswer> {
  try {
    const head = await connectHead(rack, fleet, context)
    try {
      const {quotas, artifacts_elsewhere = false} = await head.request<
        Pick<HeadQuotaAnswer, 'quotas'> & Partial<HeadQuotaAnswer>
      >('GET', '/flexrack/v1/quotas')
      return {quotas, artifacts_elsewhere}
    } finally {
      await head.close()
    }
  } catch (error) {
    if (rack.slurm && isCliError(error, 'NOT_FOUND')) return {quotas: [], artifacts_elsewhere: false}
    throw error
  }
}

/** Who waits in line, and why. */
export async function readQueue(head: Pick<HeadConnection, 'request'>): Promise<QueuedRun[]> {
  const {queue} = await head.request<{queue: QueuedRun[]}>('GET', '/flexrack/v1/claims')
  return queue
}

/** What the head would say to a run, before anything is taken: the sums, and who would make room for it. */
export function readOutlook(head: Pick<HeadConnection, 'request'>, wish: OutlookWish): Promise<ClaimOutlook> {
  return head.request<ClaimOutlook>('POST', '/flexrack/v1/claims/outlook', wish)
}

import type {ClaimOutlook, HeadConnection, OutlookWish, QuotaUse, QueuedRun} from '../head/index.ts'

export interface QuotaReport {
  rack: string
  quotas: QuotaUse[]
}

export async function readQuotas(rack: string, head: Pick<HeadConnection, 'request'>): Promise<QuotaReport> {
  const {quotas} = await head.request<{quotas: QuotaUse[]}>('GET', '/flexrack/v1/quotas')
  return {rack, quotas}
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

import {setTimeout as pause} from 'node:timers/promises'
import {isCliError} from '../base/index.ts'
import type {Exchange, Sampled} from '../head/index.ts'
import type {Site} from './site.ts'
import {requireEndpoint} from './store.ts'

/** Of one question to the head: it answers when it has so many, or after so long. */
const AT_ONCE = 200
const SECONDS_AT_ONCE = 5
/** Others are taking samples. */
const BUSY_MS = 1000

export interface SampleInput {
  name: string
  /** As many at most. */
  requests: number
  /** As long at most. */
  seconds: number
  /** Paths such as `messages.*.content`, whose values are left out. */
  redact: string[]
  /** In the order in which they were answered. */
  onExchanges(exchanges: Exchange[]): Promise<void>
}

/** How many there were, and how many more were too much to be brought. */
export type SampleCounts = {exchanges: number; dropped: number}

/**
 * What the endpoint is asked and answers from now on, until there are so many, the time is over or Ctrl-C: then what there
 * is counts. Between two questions to the head some may be missed; each is there once.
 */
export async function sampleEndpoint(site: Site, input: SampleInput): Promise<SampleCounts> {
  const {head, context} = site
  await requireEndpoint(head, input.name)
  const until = Date.now() + input.seconds * 1000
  const progress = context.reporter.begin(`Sample endpoint ${input.name}`)
  const counts: SampleCounts = {exchanges: 0, dropped: 0}
  try {
    while (counts.exchanges < input.requests && Date.now() < until && !context.signal.aborted) {
      const sampled = await ask(site, input, Math.min(AT_ONCE, input.requests - counts.exchanges), until)
      counts.exchanges += sampled.exchanges.length
      counts.dropped += sampled.dropped
      if (sampled.exchanges.length > 0) await input.onExchanges(sampled.exchanges)
      progress.detail(`${counts.exchanges} of at most ${input.requests} requests`)
    }
    progress.done()
    return counts
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function ask(
  {head, context}: Site,
  {name, redact}: SampleInput,
  requests: number,
  until: number,
): Promise<Sampled> {
  const seconds = Math.max(0.1, Math.min(SECONDS_AT_ONCE, (until - Date.now()) / 1000))
  try {
    const path = `/flexrack/v1/endpoints/${encodeURIComponent(name)}/sample`
    return await head.request<Sampled>('POST', path, {requests, seconds, redact})
  } catch (error) {
    if (!isCliError(error, 'REFUSED')) throw error
    await pause(BUSY_MS, undefined, {signal: context.signal}).catch(() => {})
    return {exchanges: [], dropped: 0}
  }
}

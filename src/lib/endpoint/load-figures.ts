import type {ClientTraffic, DurationCounts, ReleaseCounts, TrafficCounts} from '../head/index.ts'

/** What the head has counted up to a moment, by its clock, in milliseconds. */
export interface TrafficLook {
  at: number
  /** When it began to count. */
  since: number
  endpoints: TrafficCounts[]
}

/** Of the time between two looks. */
export interface LoadFigures {
  /** That ended, a second. */
  requests: number
  /** Of those that failed: status 500 and above, or no whole answer; of releases also 429. A second. */
  failed: number
  inFlight: number
  /** Milliseconds until answers had ended; null where none has. */
  p50: number | null
  p95: number | null
  p99: number | null
  /** Of prompts and answers, a second, where answers of OpenAI's API tell them. */
  tokens: number
  /** Milliseconds until the first piece of streams; null where none began. */
  firstP50: number | null
}

export interface ReleaseLoad extends LoadFigures {
  release: string
  /** Percent of the requests that it gets. */
  percent: number
  /** Rows of a request on average, where requests say how many. */
  batch: number | null
}

export interface ClientLoad extends LoadFigures {
  /** Name of its key; empty: whoever has the endpoint's own token. */
  client: string
  /** Refused over a limit of its key, a second. */
  limited: number
}

export interface TrafficLoad extends LoadFigures {
  name: string
  /** Requests that wait for a server now. */
  queued: number
  /** Milliseconds that half of those that waited have waited; null where none has. */
  waitP50: number | null
  batch: number | null
  releases: ReleaseLoad[]
  clients: ClientLoad[]
  /** By the server's address: requests that it has, and answered a second. */
  servers: {url: string; inFlight: number; requests: number}[]
}

type Counts = Pick<ReleaseCounts, 'in_flight' | 'requests' | 'failed' | 'tokens' | 'latencies' | 'first'>

/**
 * What went through the gateway between two looks; from its start on where there is no earlier one, or the head was
 * started anew in between. Pure.
 */
export function loadBetween(
  before: TrafficLook | undefined,
  now: TrafficLook,
): {seconds: number; loads: TrafficLoad[]} {
  const earlier = before && before.since === now.since && before.at < now.at ? before : undefined
  const seconds = Math.max(0.001, (now.at - (earlier?.at ?? now.since)) / 1000)
  return {seconds, loads: now.endpoints.map((one) => endpointLoad(earlier, one, seconds))}
}

function endpointLoad(earlier: TrafficLook | undefined, now: TrafficCounts, seconds: number): TrafficLoad {
  const before = earlier?.endpoints.find(({name}) => name === now.name)
  const releaseBefore = (id: string): ReleaseCounts | undefined => before?.releases.find(({release}) => release === id)
  const clientBefore = (name: string): ClientTraffic | undefined => before?.clients.find(({client}) => client === name)
  const batch = (ones: ReleaseCounts[]): number | null => {
    const grown = (part: 'requests' | 'rows'): number =>
      ones.reduce((sum, one) => sum + growth(releaseBefore(one.release)?.batches[part], one.batches[part]), 0)
    return grown('requests') === 0 ? null : Math.round((grown('rows') / grown('requests')) * 10) / 10
  }
  return {
    name: now.name,
    ...figures(before && together(before.releases), together(now.releases), seconds),
    queued: now.queued,
    waitP50: quantile(less(now.waited, before?.waited), 0.5),
    batch: batch(now.releases),
    releases: now.releases.map((one) => ({
      release: one.release,
      percent: one.percent,
      ...figures(releaseBefore(one.release), one, seconds),
      batch: batch([one]),
    })),
    clients: now.clients.map((one) => ({
      client: one.client,
      ...figures(clientBefore(one.client), one, seconds),
      limited: perSecond(growth(clientBefore(one.client)?.limited, one.limited), seconds),
    })),
    servers: now.servers.map(({url, in_flight, served}) => {
      const was = before?.servers.find((one) => one.url === url)?.served
      return {url, inFlight: in_flight, requests: perSecond(growth(was, served), seconds)}
    }),
  }
}

function figures(before: Counts | undefined, now: Counts, seconds: number): LoadFigures {
  const latencies = less(now.latencies, before?.latencies)
  const tokens = (one: Counts): number => one.tokens.prompt + one.tokens.completion
  return {
    requests: perSecond(growth(before?.requests, now.requests), seconds),
    failed: perSecond(growth(before?.failed, now.failed), seconds),
    inFlight: now.in_flight,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
    tokens: perSecond(growth(before && tokens(before), tokens(now)), seconds),
    firstP50: quantile(less(now.first, before?.first), 0.5),
  }
}

/** Releases of an endpoint as one. */
function together(releases: readonly ReleaseCounts[]): Counts {
  const sum = (of: (one: ReleaseCounts) => number): number => releases.reduce((all, one) => all + of(one), 0)
  return {
    in_flight: sum((one) => one.in_flight),
    requests: sum((one) => one.requests),
    failed: sum((one) => one.failed),
    tokens: {prompt: sum((one) => one.tokens.prompt), completion: sum((one) => one.tokens.completion)},
    latencies: releases.flatMap((one) => one.latencies),
    first: releases.flatMap((one) => one.first),
  }
}

/** A count that is smaller than before began anew: what was counted there was forgotten. */
function growth(before: number | undefined, now: number): number {
  return before === undefined || now < before ? now : now - before
}

function perSecond(count: number, seconds: number): number {
  return Number((count / seconds).toPrecision(3))
}

/** By bucket, with those that have any; lists may name a bucket several times. */
function less(now: DurationCounts, before: DurationCounts = []): DurationCounts {
  const left = new Map<number, number>()
  for (const [ms, count] of now) left.set(ms, (left.get(ms) ?? 0) + count)
  for (const [ms, count] of before) left.set(ms, (left.get(ms) ?? 0) - count)
  return [...left].filter(([, count]) => count > 0).sort(([a], [b]) => a - b)
}

function quantile(durations: DurationCounts, part: number): number | null {
  let left = part * durations.reduce((sum, [, count]) => sum + count, 0)
  return durations.find(([, count]) => (left -= count) <= 0)?.[0] ?? null
}

/** Milliseconds within which requests were done, and how many: each a bucket of a histogram. */
export type DurationCounts = [ms: number, count: number][]

/** What the head counted since it was started: two looks subtract to what came in between. */
interface Counted {
  in_flight: number
  requests: number
  /** Status 500 and above, or no whole answer; of a release also 429. */
  failed: number
  /** Tokens of OpenAI's API, where answers tell them. */
  tokens: {prompt: number; completion: number}
  latencies: DurationCounts
  /** Until the first piece of a stream. */
  first: DurationCounts
}

export interface ReleaseCounts extends Counted {
  release: string
  percent: number
  /** Of other statuses of 400 and above. */
  refused: number
  abandoned: number
  /** Rows of so many requests that were answered. */
  batches: {requests: number; rows: number}
}

export interface ClientTraffic extends Counted {
  /** Its key's name; empty: whoever has the endpoint's own token. */
  client: string
  /** Over a limit of its key. */
  limited: number
}

/** Of one endpoint. */
export interface TrafficCounts {
  name: string
  queued: number
  /** How long requests waited, of those that waited. */
  waited: DurationCounts
  releases: ReleaseCounts[]
  clients: ClientTraffic[]
  servers: {url: string; in_flight: number; served: number}[]
}

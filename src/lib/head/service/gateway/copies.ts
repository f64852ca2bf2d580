import type {Kept} from '../releases/same-answer.ts'
import {keptOf, type ModelServers, type Onward} from './model-server.ts'
import type {Parts} from '../parts.ts'
import type {Samples} from '../sampling/samples.ts'
import {keep, LARGEST_COPIED} from '../releases/shadow.ts'
import {outcomeOf, type Way} from '../releases/way.ts'

/** A copy of a request holds a place that others wait for. */
const COPY_MS = 60_000

/** Whether anybody wants the answer besides its caller: the judge of a release that answers nobody, or a sample. */
export function isKept({samples}: Parts, onward: Onward, way: Way): boolean {
  return isCopied(onward, way) || isSampled(samples, onward)
}

/** What is only looked at, such as a model's shapes, is no prediction. */
function isSampled(samples: Samples, {call, exchange}: Onward): boolean {
  return exchange.method === 'POST' && samples.wants(call.endpoint)
}

/** The request was answered: a copy of it goes where copies go, and it is in the samples that are being taken. */
export function useAnswer(
  parts: Parts,
  servers: ModelServers,
  onward: Onward,
  way: Way,
  real: Kept & {release: string; ms: number},
): void {
  if (isCopied(onward, way)) copyRequest(parts, servers, onward, way, real)
  const {call, exchange, body} = onward
  const {endpoint, path} = call
  if (!isSampled(parts.samples, onward)) return
  const {release, ms, status} = real
  const isPlain = exchange.headers['content-encoding'] === undefined
  const bytes = body && body.length <= LARGEST_COPIED ? body : undefined
  parts.samples.offer({
    endpoint,
    release,
    method: exchange.method,
    path,
    ms,
    status,
    request: {type: typeOf(exchange), bytes: isPlain ? bytes : undefined},
    answer: {type: real.type, bytes: real.body},
  })
}

/** Tensors behind JSON are no JSON, whatever the client calls them. */
function typeOf({headers}: Onward['exchange']): string | undefined {
  return headers['inference-header-content-length'] === undefined ? headers['content-type'] : 'application/octet-stream'
}

function isCopied({exchange, body}: Onward, way: Way): boolean {
  return body !== undefined && body.length <= LARGEST_COPIED && exchange.method === 'POST' && way.shadow() !== undefined
}

/** The same request to the release that answers nobody. */
function copyRequest(parts: Parts, servers: ModelServers, onward: Onward, way: Way, real: Kept): void {
  const {traffic, measures, shadows, queues} = parts
  const {endpoint} = onward.call
  const canary = way.shadow()
  if (!canary) return
  const ask = async (): Promise<Kept | undefined> => {
    const target = traffic.choose(canary.targets)
    if (target === undefined || way.shadow()?.since !== canary.since) return undefined
    traffic.begin(target)
    const end = measures.begin(endpoint, canary.release)
    try {
      // Its caller's deadline is over with its answer; nobody counts the tokens of a copy.
      const copied = {...onward, asking: undefined, deadline: undefined}
      const answer = await servers.ask(target, copied, AbortSignal.timeout(COPY_MS))
      const copy = keptOf(answer, await keep(answer.body))
      end(outcomeOf(copy.status))
      return copy
    } finally {
      end('failed') // unless it was answered
      traffic.end(target, true)
      queues.wake()
    }
  }
  shadows.offer({endpoint, since: canary.since, real, bytes: onward.body?.length ?? 0, ask})
}

import type {Kept} from './releases/same-answer.ts'
import {keptOf, type ModelServers, type Onward} from './model-server.ts'
import type {Parts} from './parts.ts'
import {keep, LARGEST_COPIED} from './releases/shadow.ts'
import {outcomeOf, type Way} from './releases/way.ts'

/** A copy of a request holds a place that others wait for. */
const COPY_MS = 60_000

/** Whether the release that answers nobody gets a copy of this request. */
export function isCopied({request, body}: Onward, way: Way): boolean {
  return body !== undefined && body.length <= LARGEST_COPIED && request.method === 'POST' && way.shadow() !== undefined
}

/** The same request to the release that answers nobody, now that it was answered. */
export function copyRequest(parts: Parts, servers: ModelServers, onward: Onward, way: Way, real: Kept): void {
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
      // Its caller's deadline is over with its answer.
      const answer = await servers.ask(target, {...onward, deadline: undefined}, AbortSignal.timeout(COPY_MS))
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

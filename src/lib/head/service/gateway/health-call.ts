import type {Sent} from './attempt.ts'
import type {Exchange} from './exchange.ts'
import {Failure} from '../failure.ts'
import {causeCode, isBroken, isNotConnected} from './lost-target.ts'
import {discard, NO_SERVER, type Answer, type Onward} from './model-server.ts'
import {pathOf} from '../path.ts'

/**
 * Whether a prediction would be answered: one server after the other is asked, whatever is known of it, until one takes
 * a connection. Nobody waits for a turn, and the figures of releases do not count it. Throws 503.
 */
export async function askHealth({parts, servers, onward, way}: Sent): Promise<void> {
  const {endpoint} = onward.call
  const {exchange} = onward
  // A request would have a server started, wait for it, and be answered; who asks for health starts none.
  if (parts.scaler.isComing(endpoint)) return sayWell(exchange)
  const lanes = way.lanes()
  if (lanes.length === 0) throw new Failure(503, 'ENDPOINT_FAILED', `endpoint ${endpoint} has no active release`)
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  exchange.raw.once('close', leave)
  let breaks = 0
  for (const target of lanes.flatMap(({targets}) => targets)) {
    parts.traffic.begin(target)
    try {
      const answer = await servers.ask(target, onward, gone.signal)
      parts.health.answered(target)
      exchange.raw.removeListener('close', leave)
      return tellHealth(answer, onward)
    } catch (error) {
      if (gone.signal.aborted) return
      const code = causeCode(error)
      const isAway = isNotConnected(code)
      if (isAway) parts.health.refused(target, code === NO_SERVER)
      else if (!isBroken(code) || ++breaks > 1) {
        const why = code || (error as Error).message
        const message = `the model server of endpoint ${endpoint} does not answer (${why})`
        throw new Failure(503, 'ENDPOINT_FAILED', message)
      }
    } finally {
      parts.traffic.end(target, false)
      parts.queues.wake()
    }
  }
  throw new Failure(503, 'ENDPOINT_FAILED', `no model server of endpoint ${endpoint} takes connections`)
}

/** The model's own word: its server may be well without it. */
function tellHealth(answer: Answer, {call, exchange}: Onward): void {
  const {statusCode} = answer
  discard(answer)
  if (statusCode === 200) sayWell(exchange)
  else {
    const message = `the model of endpoint ${call.endpoint} is not ready (status ${statusCode})`
    exchange.refuse(new Failure(503, 'ENDPOINT_FAILED', message))
  }
}

function sayWell(exchange: Exchange): void {
  // The protocol has a word for each, and KServe's client reads it.
  const word = pathOf(exchange.url).endsWith('/live') ? 'live' : 'ready'
  exchange.answer(200, {[word]: true})
}

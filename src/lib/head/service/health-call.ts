import type {FastifyReply} from 'fastify'
import {Failure} from './failure.ts'
import {discard, type Answer, type Onward} from './model-server.ts'
import {pathOf} from './path.ts'

/** The model's own word: its server may be well without it. */
export function tellHealth(answer: Answer, {call, request}: Onward, reply: FastifyReply): void {
  const {statusCode} = answer
  discard(answer)
  if (statusCode === 200) {
    // The protocol has a word for each, and KServe's client reads it.
    const word = pathOf(request.url).endsWith('/live') ? 'live' : 'ready'
    reply.type('application/json').send(JSON.stringify({[word]: true}))
  } else {
    const message = `the model of endpoint ${call.endpoint} is not ready (status ${statusCode})`
    reply.send(new Failure(503, 'ENDPOINT_FAILED', message))
  }
}

import type {FastifyReply, FastifyRequest} from 'fastify'
import {Failure} from './failure.ts'
import {discard, type Answer, type Onward} from './model-server.ts'
import {pathOf} from './path.ts'

/** The model's own word: its server may be well without it. */
export function tellHealth(answer: Answer, {call, request}: Onward, reply: FastifyReply): void {
  const {statusCode} = answer
  discard(answer)
  if (statusCode === 200) sayWell(request, reply)
  else {
    const message = `the model of endpoint ${call.endpoint} is not ready (status ${statusCode})`
    reply.send(new Failure(503, 'ENDPOINT_FAILED', message))
  }
}

/** No server runs, and a request would have one started, wait for it and be answered: who asks for health starts none. */
export function tellComing(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sayWell(request, reply)
}

function sayWell(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The protocol has a word for each, and KServe's client reads it.
  const word = pathOf(request.url).endsWith('/live') ? 'live' : 'ready'
  return reply.type('application/json').send(JSON.stringify({[word]: true}))
}

import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {announcedSize, readBody} from './body.ts'
import {Failure} from './failure.ts'
import {readCall} from './gateway-calls.ts'
import {askHealth} from './health-call.ts'
import {ModelServers} from './model-server.ts'
import type {Parts} from './parts.ts'
import {Passage} from './passage.ts'
import {passBody} from './passing.ts'
import {pathOf} from './path.ts'
import {deadlineOf} from './queue/deadline.ts'
import {outcomeOf, Way} from './releases/way.ts'

/** A body up to this size is kept, so that the request can go to another target; a larger one is streamed once. */
const KEPT_BYTES = 32 * 1024 * 1024
const LARGEST_BODY = 4 * 1024 ** 3

/** /endpoints/<name>/…: one stable address in front of the targets of its releases. */
export async function addGateway(app: FastifyInstance, parts: Parts): Promise<void> {
  const servers = ModelServers.open(parts)
  app.addHook('onClose', () => servers.close())
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const {name} = request.params as {name: string}
    const record = parts.endpoints.find(name)
    if (!record) throw new Failure(404, 'NOT_FOUND', `no endpoint ${name}`)
    parts.clients.enter(request, reply, name)
    const call = readCall(name, record.document.active ?? {}, request.method, pathOf(request.url))
    const deadline = deadlineOf(request.headers, performance.now())
    const keeps = request.body === undefined || announcedSize(request) <= KEPT_BYTES
    const body = keeps
      ? await readBody(request, KEPT_BYTES, parts.limits)
      : await passBody(request, LARGEST_BODY, parts.limits, false)
    const way = new Way(parts, name, request.headers, call.isHealth)
    try {
      const sent = {parts, servers, onward: {call, request, body: body ?? undefined, deadline}, reply, way}
      await (call.isHealth ? askHealth(sent) : new Passage(sent).forward())
    } catch (error) {
      way.end(error instanceof Failure ? outcomeOf(error.status) : 'failed')
      throw error
    }
    return reply
  }
  app.route({method: ['GET', 'HEAD', 'POST'], url: '/endpoints/:name/*', handler})
}

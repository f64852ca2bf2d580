import type {FastifyInstance} from 'fastify'
import type {AgentAnswer, ServerReport} from '../../../protocol/index.ts'
import {readObject} from '../limits/body.ts'
import {Failure, tokenRefused} from '../failure.ts'
import {goneOf} from '../limits/incoming.ts'
import {logLine} from '../log.ts'
import type {Parts} from '../parts.ts'
import {readGpuUse} from './gpu-use.ts'

/** The one path that a node's token opens. */
export const AGENT_PATH = '/flexrack/v1/agent'

const LARGEST_REPORT = 256 * 1024
const MOST_TEXT = 300

/**
 * What nodes' agents ask: which of the services prepared on their node are to run. The question says what they do now, and
 * is held until there is another answer. A node speaks of itself alone: which one it is, its token says.
 */
export function addAgentApi(app: FastifyInstance, {scaler, tokens, authority, limits}: Parts): void {
  app.delete<{Params: {node: string}}>('/flexrack/v1/agents/:node', async ({params: {node}}) => {
    await tokens.revokeNode(node)
    return {}
  })
  app.post(AGENT_PATH, async (request): Promise<AgentAnswer> => {
    const caller = request.caller
    if (caller?.kind !== 'node') throw new Failure(403, 'REFUSED', `${AGENT_PATH} is for the agents of nodes`)
    const {seen, wait, services, ca, gpus} = await readObject(request, LARGEST_REPORT, limits)
    if (!tokens.has(caller.id)) throw tokenRefused() // revoked since the request's head was read
    await tokens.useOf(caller.id).catch((error: Error) => logLine(`a token was not prolonged: ${error.message}`))
    scaler.agents.hears(caller.node)
    scaler.heard(caller.node, reportsOf(services))
    scaler.gpus.heard(caller.node, readGpuUse(gpus))
    const waitMs = typeof wait === 'number' && wait > 0 ? wait * 1000 : 0
    const order = await scaler.agents.ask(caller.node, seen, waitMs, goneOf(request))
    if (!tokens.has(caller.id)) throw tokenRefused() // while it was held
    return {...order, ...(typeof ca === 'string' && ca !== authority.trusted && {ca: authority.trusted})}
  })
}

/** Nothing of a foreign shape comes further. */
function reportsOf(services: unknown): Record<string, ServerReport> {
  if (typeof services !== 'object' || services === null) return {}
  return Object.fromEntries(
    Object.entries(services).flatMap(([service, one]: [string, unknown]) => {
      if (typeof one !== 'object' || one === null) return []
      const {state, restarts, exit} = one as Record<string, unknown>
      if (typeof state !== 'string') return []
      const report: ServerReport = {
        state: state.slice(0, MOST_TEXT),
        restarts: typeof restarts === 'number' ? restarts : 0,
        exit: typeof exit === 'string' ? exit.slice(0, MOST_TEXT) : null,
      }
      return [[service, report]]
    }),
  )
}

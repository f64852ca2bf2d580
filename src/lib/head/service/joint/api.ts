import type {FastifyInstance} from 'fastify'
import type {HeadPromise} from '../../../protocol/index.ts'
import {countEndpoints, endpointAmounts, endpointHolding} from '../holdings/endpoints.ts'
import {readObject, type BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import {logLine} from '../log.ts'
import type {Parts} from '../parts.ts'

/** The one path that a token of kind joint opens. */
export const VERDICT_PATH = '/flexrack/v1/joint/:id/verdict'

const LARGEST_BODY = 4 * 1024 * 1024
const LOOK_MS = 1000

type Named = {Params: {id: string}}

/** /flexrack/v1/joint: switches over several racks. The admin token, but for the verdict, which another rack's head asks. */
export function addJoint(app: FastifyInstance, parts: Parts): void {
  const {promises, scaler, rollouts, limits, endpoints, holdings} = parts
  promises.whenSwitched((name) => {
    scaler.follow(name)
    for (const work of [rollouts.forget(name), recount(name)])
      work.catch((error: Error) => logLine(`endpoint ${name}: ${error.message}`))
  })
  // Counted from the promise on: what is promised can be had when it is switched.
  const recount = (name: string): Promise<void> => {
    const document = endpoints.find(name)?.document
    return holdings.restore(endpointHolding(name), document && endpointAmounts(document))
  }
  promises.whenDropped(recount)
  const bodyOf: BodyOf = (request) => readObject(request, LARGEST_BODY, limits)
  app.put<Named>('/flexrack/v1/joint/:id', async (request) =>
    shown(
      await promises.promise(request.params.id, await bodyOf(request), (changes, work) =>
        countEndpoints(request, parts, changes, work),
      ),
    ),
  )
  app.get<Named>('/flexrack/v1/joint/:id', ({params: {id}}) => {
    const found = promises.find(id)
    if (!found) throw new Failure(404, 'NOT_FOUND', `no switch ${id}`)
    return shown(found)
  })
  app.post<Named>('/flexrack/v1/joint/:id/decision', async (request) => {
    const {decision} = await bodyOf(request)
    if (decision !== 'committed' && decision !== 'dropped')
      throw new Failure(400, 'USAGE', 'decision must be committed or dropped')
    return shown(await promises.decide(request.params.id, decision))
  })
  app.post<Named>('/flexrack/v1/joint/:id/settle', async ({params: {id}}) => shown(await promises.settle(id)))
  app.post<Named>(VERDICT_PATH, async ({params: {id}, caller}) => {
    if (caller?.kind === 'joint' && caller.joint !== id)
      throw new Failure(403, 'REFUSED', 'this token is for another switch')
    const found = promises.find(id)
    // What this head has never promised it has never decided to do: a promise is written before anybody is told of it.
    if (!found) return {state: 'dropped'}
    // A follower that knows a decision is no one to ask: it might have been told it by mistake.
    if (found.leader) throw new Failure(409, 'CONFLICT', `the switch ${id} is not decided here`)
    return {state: (await promises.settle(id)).state}
  })
}

/** `endpoints`: those that are still to be switched. */
function shown({state, racks, changes}: HeadPromise): object {
  return {state, racks, endpoints: changes.map(({name}) => name)}
}

/** Settles what is left of them until it is told to stop. */
export function watchPromises({promises}: Pick<Parts, 'promises'>): () => void {
  let isLooking = false
  const look = (): void => {
    if (isLooking) return
    isLooking = true
    void promises.look().finally(() => (isLooking = false))
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  return () => clearInterval(timer)
}

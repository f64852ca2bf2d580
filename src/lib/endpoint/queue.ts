import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf} from '../plan/index.ts'
import {withLock} from './lock.ts'
import type {Site} from './site.ts'
import {putEndpoint, requireEndpoint} from './store.ts'

/** How requests wait; what is undefined is the head's default. */
export interface QueueRules {
  /** The most requests that wait. */
  requests?: number
  /** The longest that a request waits. */
  seconds?: number
  /** Requests at one server at once. */
  concurrency?: number
  /** Seconds that a server may be silent with a request whose caller says no deadline. */
  answer?: number
}

/** What was changed, and what holds then. */
export type QueueChange = {
  endpoint: string
  queue: QueueRules
}

type QueueKinds = {'endpoint.queue': {input: QueueChange; output: QueueChange}}

const HANDLERS: Handlers<QueueKinds, Site> = {'endpoint.queue': setRules}

/** Only looks. `rules` are put over those that the endpoint has. NOT_FOUND without it. */
export async function planQueue(site: Site, name: string, rules: QueueRules): Promise<PlanOf<QueueKinds>> {
  const {document} = await requireEndpoint(site.head, name)
  const queue = {...document.queue, ...rules}
  const said = [
    queue.concurrency !== undefined && `${queue.concurrency} at a server at once`,
    queue.requests !== undefined && `${queue.requests} wait at most`,
    queue.seconds !== undefined && `for ${queue.seconds} s at most`,
    queue.answer !== undefined && `a server may be silent for ${queue.answer} s`,
  ].filter(Boolean)
  const title = `Requests of endpoint ${name}: ${said.join(', ')}`
  const step = {id: 'queue', node: site.rack.head.node, kind: 'endpoint.queue' as const, title, needs: []}
  return {command: 'endpoint limit', steps: [{...step, input: {endpoint: name, queue}}]}
}

/** The gateway follows at once. Errors: LOCKED while the endpoint is being changed. */
export async function changeQueue(site: Site, name: string, rules: QueueRules): Promise<QueueChange> {
  const outcomes = await executePlan(await planQueue(site, name, rules), HANDLERS, site, site.context)
  throwIfFailed(outcomes)
  const [done] = valuesOf<QueueKinds, 'endpoint.queue'>(outcomes, 'endpoint.queue')
  return done!
}

async function setRules({endpoint, queue}: QueueChange, _done: unknown, site: Site): Promise<QueueChange> {
  return withLock(site.head, endpoint, site.context, async () => {
    const record = await requireEndpoint(site.head, endpoint)
    await putEndpoint(site.head, record, {...record.document, queue})
    return {endpoint, queue}
  })
}

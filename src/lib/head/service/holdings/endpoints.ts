import type {FastifyRequest} from 'fastify'
import type {HeldAmounts} from '../../../protocol/index.ts'
import {saidUserOf} from '../audit/hooks.ts'
import type {Parts} from '../parts.ts'
import type {Wanted} from './holdings.ts'

/** Endpoints count while `work` writes their documents. Errors: 409 QUOTA, and those of `work`. */
export async function countEndpoints<T>(
  request: FastifyRequest,
  parts: Pick<Parts, 'holdings' | 'people'>,
  changes: readonly {name: string; document: unknown}[],
  work: () => Promise<T>,
): Promise<T> {
  const items = changes.map(({name, document}) => [endpointHolding(name), wantedFor(request, parts, document)] as const)
  return (await parts.holdings.take(items, work)).value
}

export function endpointHolding(name: string): string {
  return `endpoint ${name}`
}

/** Whose it is: of who makes it, and of the project that its document names. */
function wantedFor(request: FastifyRequest, {people}: Pick<Parts, 'people'>, document: unknown): Wanted {
  const {caller} = request
  const user = caller?.kind === 'user' ? caller.user : saidUserOf(request)
  const project = objectOf(document).project
  return {
    user,
    teams: people.teamsOf(user),
    project: typeof project === 'string' ? project.slice(0, 200) : 'default',
    amounts: endpointAmounts(document),
  }
}

/** An endpoint, and the servers that it has or may come to: of its release and of the canary, or as many as are planned. Pure. */
export function endpointAmounts(document: unknown): HeldAmounts {
  const {planned, releases} = objectOf(document)
  const all = (Array.isArray(releases) ? releases : []).map(objectOf)
  const of = (state: string): number =>
    all.filter((one) => one.state === state).reduce((sum, one) => sum + serversOf(one), 0)
  return {endpoints: 1, servers: Math.max(countOf(planned), of('active') + of('canary'))}
}

function serversOf({replicas, scaling}: Record<string, unknown>): number {
  return scaling === undefined || scaling === null
    ? Array.isArray(replicas)
      ? replicas.length
      : 0
    : countOf(objectOf(scaling).max)
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= 1e6 ? value : 0
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

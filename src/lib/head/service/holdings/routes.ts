import type {FastifyInstance} from 'fastify'
import type {HeadHolding} from '../../../protocol/index.ts'
import type {HoldWish} from '../../types.ts'
import {claimantOf, type Claimant} from '../claims/claimant.ts'
import {Failure} from '../failure.ts'
import {endpointHolding} from './endpoints.ts'
import type {BodyOf} from '../limits/body.ts'
import type {Parts} from '../parts.ts'

const PROJECT = /^[\w.@+-]{1,200}$/
const NAME = /^[\w.@+:/-]{1,300}$/
const MOST_NAMES = 1000
/** Milliseconds since 1970 that a date can be (ECMAScript, time values). */
const LATEST = 8.64e15
/** Of one node: whoever has a run's token may say anything, and it is charged to a team. */
const MOST_KEPT = 2 ** 50

/** What commands count at the head beside runs: notebooks and data on nodes. Endpoints count by themselves (endpoints.ts). */
export function addHoldings(app: FastifyInstance, parts: KeptParts, bodyOf: BodyOf): void {
  const {holdings} = parts
  addKept(app, parts, bodyOf)
  app.post('/flexrack/v1/holdings', async (request) => {
    const wish = readCounted(await bodyOf(request))
    const claimant = claimantOf(request, parts, {project: wish.project, priority: 0})
    request.about = `${wish.kind} ${wish.name}`
    try {
      const {soft} = await holdings.take([[nameOf(wish, claimant), wantedOf(wish, claimant)]], () => Promise.resolve())
      return {over: soft}
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'QUOTA') throw error
      // who has ended theirs says so, and asks again
      const own = holdings.namesOf(wish.kind, claimant.user)
      throw new Failure(error.status, error.code, error.message, {...error.more, own})
    }
  })
  app.post('/flexrack/v1/holdings/outlook', async (request) => {
    const {beside = [], ...body} = await bodyOf(request)
    if (!Array.isArray(beside) || beside.length > MOST_NAMES) throw new Failure(400, 'USAGE', 'beside must be a list')
    const wish = readHold(body)
    const more = beside.map((one: unknown) => readHold({...body, ...(one as object)}))
    const all = [wish, ...more]
    const claimant = claimantOf(request, parts, {project: wish.project, priority: 0})
    const names = all.map((one) => nameOf(one, claimant))
    const amount = all.reduce((sum, one) => sum + one.amount, 0)
    return {sums: holdings.sums(names, wantedOf({...wish, amount}, claimant))}
  })
  app.post('/flexrack/v1/holdings/release', async (request) => {
    const {kind, project, names} = await bodyOf(request)
    if (!Array.isArray(names) || names.length > MOST_NAMES) throw new Failure(400, 'USAGE', 'names must be a list')
    const wishes = names.map((name) => readCounted({kind, project, name, amount: 0}))
    const [first] = wishes
    if (!first) return {}
    const claimant = claimantOf(request, parts, {project: first.project, priority: 0})
    await holdings.release(wishes.map((one) => nameOf(one, claimant)))
    return {}
  })
}

/** What runs keep on a node, as it was looked at there: by a run's own word, or by the command that removed one. */
function addKept(app: FastifyInstance, {holdings, claims, quotas, people}: KeptParts, bodyOf: BodyOf): void {
  const note = async (body: Record<string, unknown>, claimant: Claimant & {project: string}): Promise<object> => {
    const {node, owner, bytes} = readKept(body)
    if (bytes === null || !quotas.limitsDisk) return {counts: quotas.limitsDisk}
    const {user, teams, project} = claimant
    await holdings.note(`kept ${user} ${node} ${project}/${owner}`, {user, teams, project, amounts: {disk: bytes}})
    return {counts: true}
  }
  app.post('/flexrack/v1/holdings/self', async (request) => {
    const body = await bodyOf(request)
    const [, claim] = claims.ofToken(request.caller?.kind === 'run' ? request.caller.id : '')
    return note(body, claim)
  })
  app.post('/flexrack/v1/holdings/kept', async (request) => {
    const {project, ...body} = await bodyOf(request)
    if (typeof project !== 'string' || !PROJECT.test(project)) throw new Failure(400, 'USAGE', 'it needs a project')
    return note(body, {...claimantOf(request, {people}, {project, priority: 0}), project})
  })
}

type KeptParts = Pick<Parts, 'holdings' | 'claims' | 'quotas' | 'people'>

/** `bytes` null: only whether they count is asked. Errors: 400. */
function readKept({node, owner, bytes = null}: Record<string, unknown>): Kept {
  if (typeof node !== 'string' || !PROJECT.test(node)) throw new Failure(400, 'USAGE', 'it needs a node')
  // as an account and a machine are called: any text
  if (typeof owner !== 'string' || owner.length === 0 || owner.length > 200)
    throw new Failure(400, 'USAGE', 'it needs an owner')
  if (bytes !== null && !(typeof bytes === 'number' && bytes >= 0 && bytes <= MOST_KEPT))
    throw new Failure(400, 'USAGE', 'bytes must be a number')
  return {node, owner, bytes}
}

interface Kept {
  node: string
  owner: string
  bytes: number | null
}

/** Of what commands count themselves. Errors: 400. */
function readCounted(body: Record<string, unknown>): HoldWish {
  const wish = readHold(body)
  if (wish.kind === 'endpoint') throw new Failure(400, 'USAGE', 'an endpoint counts with its document')
  return wish
}

/** Errors: 400. */
function readHold({kind, name, project, amount = 1, until}: Record<string, unknown>): HoldWish {
  if (kind !== 'notebook' && kind !== 'data' && kind !== 'endpoint')
    throw new Failure(400, 'USAGE', 'kind must be notebook or data')
  if (typeof name !== 'string' || !NAME.test(name)) throw new Failure(400, 'USAGE', 'it needs a name')
  if (typeof project !== 'string' || !PROJECT.test(project)) throw new Failure(400, 'USAGE', 'it needs a project')
  if (typeof amount !== 'number' || !(amount >= 0 && amount <= 1e18))
    throw new Failure(400, 'USAGE', 'amount must be a number')
  if (until !== undefined && !(typeof until === 'number' && until > 0 && until <= LATEST))
    throw new Failure(400, 'USAGE', 'until must be a time')
  return {kind, name, project, amount, ...(until !== undefined && {until})}
}

/** Each user has names of their own: nobody takes, or gives back, what is another's. */
function nameOf({kind, name}: HoldWish, {user}: Claimant): string {
  return kind === 'endpoint' ? endpointHolding(name) : `${kind} ${user} ${name}`
}

function wantedOf({kind, project, amount, until}: HoldWish, {user, teams}: Claimant): Omit<HeadHolding, 'since'> {
  const amounts =
    kind === 'notebook' ? {notebooks: 1} : kind === 'data' ? {disk: amount} : {endpoints: 1, servers: amount}
  return {user, teams, project, amounts, ...(until !== undefined && {until})}
}

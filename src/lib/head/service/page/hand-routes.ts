import type {FastifyInstance} from 'fastify'
import type {PageHand} from '../../types.ts'
import {readObject} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import {goneOf} from '../limits/incoming.ts'
import {ownerIn, type Logins} from '../tokens/browser-login.ts'
import type {Parts} from '../parts.ts'
import {pageUser} from './seen.ts'

/** A look at a rack of hundreds of nodes, or a part of a log. */
const LARGEST_ANSWER = 16 * 1024 * 1024
const LARGEST_QUESTION = 16 * 1024
const LOOPBACK = /^http:\/\/127\.0\.0\.1:\d{1,5}$/
const MOST_RACKS = 100

type Named = {Params: {login: string}}

/** What a `head ui` asks and answers while it goes on: /flexrack/v1/logins/LOGIN. Of whoever began the login alone. */
export function addHandRoutes(app: FastifyInstance, {ui, limits, people}: Parts, logins: Logins): void {
  app.post<Named>('/flexrack/v1/logins/:login/questions', async (request) => {
    const {login} = request.params
    const {wait, ...who} = await readObject(request, LARGEST_QUESTION, limits)
    const by = ownerIn(request.caller)
    logins.goesOn(login, by)
    const hand = readHand(who)
    // They share what one of them sees, which goes by their roles, too.
    const view = by && pageUser(by, {people}) ? `${hand.view} of ${by.id}` : hand.view
    const waitMs = typeof wait === 'number' && wait > 0 ? wait * 1000 : 0
    return {questions: await ui.hands.next(login, {...hand, view}, waitMs, goneOf(request))}
  })
  app.post<Named>('/flexrack/v1/logins/:login/answers', async (request) => {
    const {id, value, error} = await readObject(request, LARGEST_ANSWER, limits)
    logins.requireOwn(request.params.login, ownerIn(request.caller))
    if (typeof id !== 'string') throw new Failure(400, 'USAGE', 'an answer has the id of its question')
    return {wanted: ui.hands.answer(request.params.login, id, {value, ...readError(error)})}
  })
}

function readHand({rack, view, owner, mlflow, racks = []}: Record<string, unknown>): PageHand {
  const isText = (one: unknown): one is string => typeof one === 'string' && one.length <= 300
  // It is where browsers are led to: nowhere but to a forward of their own machine.
  if (!isText(rack) || !isText(view) || !isText(owner) || !isText(mlflow) || !LOOPBACK.test(mlflow))
    throw new Failure(400, 'USAGE', 'who has the page open says rack, view, owner, and the forward to MLflow')
  if (!Array.isArray(racks) || racks.length > MOST_RACKS || !racks.every(isText))
    throw new Failure(400, 'USAGE', `who has the page open names at most ${MOST_RACKS} racks`)
  return {rack, view, owner, mlflow, racks}
}

function readError(error: unknown): {error?: {code: string; message: string}} {
  if (typeof error !== 'object' || error === null) return {}
  const {code, message} = error as Record<string, unknown>
  return {error: {code: String(code), message: String(message)}}
}

import {promisify} from 'node:util'
import {gzip} from 'node:zlib'
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Failure} from '../failure.ts'
import type {Logins} from '../tokens/browser-login.ts'
import type {Parts} from '../parts.ts'
import {takesAdmin} from '../people/person.ts'
import {carryOut, readAction, type Action} from './actions.ts'
import {askBody} from './ask.ts'
import {ASSETS} from './assets.ts'
import {address} from './html.ts'
import {documentOf} from './layout.ts'
import {endpointView} from './list-views.ts'
import {pageUser, type PageUser} from './seen.ts'
import {readTried, triedEndpoint, tryOut} from './try.ts'
import {openView, pathOf, type Site, type View} from './views.ts'

/** Scripts, styles and pictures are ours; a page sends its forms here, and stands in no frame. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  // With no-referrer browsers would send the Origin of a form as null.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}
const YEAR = 'private, max-age=31536000, immutable'
const ENTRY = /^http:\/\/127\.0\.0\.1:\d{1,5}\/flexrack\/v1\/login\?code=[\w-]+$/
const zip = promisify(gzip)

/** The rack's page, for browsers that a `head ui` has let in: /flexrack/ui. */
export function addPages(app: FastifyInstance, parts: Parts, logins: Logins): void {
  const {ui} = parts
  const siteOf = (request: FastifyRequest): Site => {
    const {caller} = request
    if (caller?.kind !== 'session') throw new Failure(403, 'REFUSED', 'the page is for browsers: flexrack head ui')
    requireOwnPage(request)
    const hand = ui.hands.find(caller.login)
    const {rack = '', view = '', owner = '', racks = []} = hand ?? {}
    const {login, opens} = caller
    const alone = parts.people.isEmpty && !parts.quotas.isLimited
    const userNow = (): PageUser | undefined => pageUser(logins.ownerOf(login), parts)
    const user = userNow()
    // Who was made an admin, or is none any more, begins anew.
    const isOpen = (): boolean => logins.isAlive(login) && (userNow() === undefined) === (user === undefined)
    return {login, view, rack, racks, owner, may: opens === 'page', user, alone, parts, ...ui, isOpen}
  }
  app.get('/flexrack/ui/assets/:name', async (request, reply) => {
    siteOf(request)
    const asset = ASSETS.get(request.url)
    if (!asset) throw new Failure(404, 'NOT_FOUND', 'there is no such file')
    return send(request, reply.header('cache-control', YEAR), asset.type, asset.text)
  })
  app.get('/flexrack/ui/events', (request, reply) => ui.streams.open(request, reply, siteOf(request)))
  app.get('/flexrack/ui/mlflow', (request, reply) => {
    const {login, may, user} = siteOf(request)
    if (user) throw takesAdmin("a look at MLflow's pages", user.name)
    // There who looks could change something.
    if (!may) throw new Failure(403, 'REFUSED', 'this login only looks at the page')
    const mlflow = ui.hands.find(login)?.mlflow
    if (mlflow === undefined)
      throw new Failure(503, 'HEAD_FAILED', 'the flexrack head ui that opened this page is gone')
    // A code that works once, within a minute; the page that it leads to has an address of its own.
    return reply
      .headers(PAGE_HEADERS)
      .redirect(`${mlflow}${logins.issue({login, by: logins.ownerOf(login)}).path}`, 303)
  })
  app.get<{Params: {rack: string}}>('/flexrack/ui/racks/:rack', async (request, reply) => {
    const {login, racks} = siteOf(request)
    const {rack} = request.params
    if (!racks.includes(rack))
      throw new Failure(404, 'NOT_FOUND', 'the flexrack head ui that opened this page has no such rack open')
    const {url} = await ui.hands.ask(login, 'enter', {rack})
    // Nowhere but to a forward of the browser's own machine.
    if (!ENTRY.test(url)) throw new Failure(502, 'REFUSED', `the way to rack ${rack} is none`)
    return reply.headers(PAGE_HEADERS).redirect(url, 303)
  })
  app.post('/flexrack/ui/*', async (request, reply) => {
    const site = siteOf(request)
    const path = pathOf(request.url)
    const tried = triedEndpoint(path)
    if (tried !== undefined) {
      const view = endpointView(tried, site, await tryOut(tried, await readTried(request, parts.limits), site))
      return send(request, reply, 'text/html; charset=utf-8', documentOf(await view.draw(), site))
    }
    const action = readAction(path, site)
    if (!action) throw new Failure(404, 'NOT_FOUND', 'there is nothing to do there')
    await carryOut(action, site)
    site.topics.renew()
    return reply.headers(PAGE_HEADERS).redirect(address(action.question.back), 303)
  })
  app.get('/flexrack/ui/*', async (request, reply) => {
    const site = siteOf(request)
    const action = readAction(pathOf(request.url), site)
    const view = action ? askView(action) : openView(request.url, site)
    if (!view) throw new Failure(404, 'NOT_FOUND', 'there is no such page')
    const drawn = await view.draw()
    return send(request, reply, 'text/html; charset=utf-8', documentOf(drawn, site))
  })
}

/** Asks before something is done. */
function askView({kind, question, command}: Action): View {
  const page = kind === 'stop' ? 'runs' : kind === 'rollback' ? 'endpoints' : 'notebooks'
  return {draw: () => Promise.resolve({page, title: question.title, body: askBody(question), command})}
}

/**
 * Other pages get nothing through a browser's session. A page of another port counts as the same site, so that its
 * requests bring the cookie along: fetch metadata (https://www.w3.org/TR/fetch-metadata/) tells them apart.
 */
function requireOwnPage({headers, method}: FastifyRequest): void {
  const from = headers['sec-fetch-site']
  const isLink =
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  if (from !== undefined && from !== 'same-origin' && from !== 'none' && !isLink)
    throw new Failure(403, 'REFUSED', 'this request comes from another page')
  if (method !== 'GET' && headers.origin === undefined)
    throw new Failure(403, 'REFUSED', 'this request does not say which page it comes from')
}

async function send(request: FastifyRequest, reply: FastifyReply, type: string, text: string): Promise<FastifyReply> {
  const kept = reply.getHeader('cache-control')
  reply.headers({...PAGE_HEADERS, ...(kept !== undefined && {'cache-control': String(kept)})}).type(type)
  if (text.length < 1000 || !/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(text)
  return reply
    .header('content-encoding', 'gzip')
    .header('vary', 'accept-encoding')
    .send(await zip(text))
}

import type {HeadAudit} from '../../../protocol/index.ts'
import type {PageAsk, PageAsks} from '../../types.ts'
import {Failure} from '../failure.ts'
import {factsFor} from '../people/api.ts'
import {takesAdmin} from '../people/person.ts'
import {tokenFacts} from '../people/token-api.ts'
import {describeEndpoint} from '../releases/api.ts'
import {endpointBody, endpointParts, endpointsBody, endpointsTable, type EndpointFacts} from './endpoints.ts'
import {html, type Html} from './html.ts'
import {idleBody, LOOK_BACK} from './idle.ts'
import {warning, type Drawn} from './layout.ts'
import {auditBody, dataBody, modelsBody, notebooksBody} from './lists.ts'
import {liveParts} from './live.ts'
import {modelFacts} from './mlflow-facts.ts'
import {peopleBody, type PeopleSeen} from './people.ts'
import {allPlaces} from './seen.ts'
import {sweepBody, sweepsBody} from './sweeps.ts'
import type {Seen, Topic} from './topics.ts'
import {invokeCommand, type Tried} from './try.ts'
import type {Site, View} from './views.ts'
import {outdated} from './words.ts'

const ENDPOINTS_MS = 2000
const LOOK_MS = 5000
const MODELS_MS = 10_000
const IDLE_MS = 30_000
const MOST_NOTED = 300

export function endpointsView(
  [name, ...more]: readonly string[],
  _query: URLSearchParams,
  site: Site,
): View | undefined {
  const {topics, parts} = site
  if (more.length > 0) return undefined
  const facts = (one: string): EndpointFacts => describeEndpoint(parts, one) as EndpointFacts
  if (name === undefined) {
    const topic = topics.open('endpoints', ENDPOINTS_MS, () => Promise.resolve(parts.endpoints.names().map(facts)))
    return {
      draw: async () => ({
        page: 'endpoints',
        title: 'Endpoints',
        body: endpointsBody((await topic.fresh()).value ?? []),
        command: 'flexrack endpoint list',
        isLive: true,
        again: 5,
      }),
      live: liveParts(topic, ({value}) => ({endpoints: endpointsTable(value ?? [])})),
    }
  }
  return parts.endpoints.find(name) && endpointView(name, site)
}

/** The page of one; with what was tried it does not load itself anew. */
export function endpointView(name: string, {topics, parts, may, user}: Site, tried?: Tried): View {
  const facts = (): EndpointFacts => ({
    ...(describeEndpoint(parts, name) as EndpointFacts),
    url: `${parts.url()}/endpoints/${encodeURIComponent(name)}`,
  })
  const topic = topics.open(`endpoint ${name}`, ENDPOINTS_MS, () => Promise.resolve(facts()))
  return {
    draw: async () => ({
      page: 'endpoints',
      title: name,
      body: endpointBody((await topic.fresh()).value ?? facts(), may && !user, Date.now(), tried),
      command: tried ? invokeCommand(name, tried) : `flexrack endpoint show ${name}`,
      isLive: !tried,
    }),
    live: liveParts(topic, ({value}) => (value ? endpointParts(value, Date.now()) : {})),
  }
}

/** A page that is one list: all of it is drawn again at each look. `read`: what the head itself knows, as it is now. */
function listView<T>(
  topic: Topic<T>,
  drawn: Omit<Drawn, 'body' | 'isLive'>,
  body: (value: T | undefined, error: string | undefined, now: number) => Html,
  read?: () => Promise<T>,
): View {
  const list = (seen: Seen<T>): Html => {
    const now = Date.now()
    return html`<div id="list">${body(seen.value, outdated(seen, now), now)}</div>`
  }
  return {
    draw: async () => {
      const seen = read ? {value: await read(), at: Date.now(), error: undefined} : await topic.fresh()
      return {...drawn, body: list(seen), isLive: true}
    },
    live: liveParts(topic, (seen) => ({list: list(seen)})),
  }
}

export function modelsView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const {topics, parts, view} = site
  const topic = topics.open(`${view} models`, MODELS_MS, () => {
    if (!parts.mlflow.isReady) throw new Failure(503, 'HEAD_FAILED', 'the registry is not ready yet')
    return modelFacts(allPlaces(site))
  })
  return listView(topic, {page: 'models', title: 'Models', command: 'flexrack model list', again: 30}, modelsBody)
}

/** What is asked of a `head ui`, once for all who see the same. */
function asked<A extends PageAsk>(
  {topics, view, hands}: Site,
  ask: A,
  input: PageAsks[A]['input'],
): Topic<PageAsks[A]['answer']> {
  return topics.open(`${view} ${ask}`, LOOK_MS, () => hands.askAny(view, ask, input))
}

export function sweepsView([name, ...more]: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (more.length > 0) return undefined
  const topic = asked(site, 'sweeps', {})
  if (name === undefined)
    return listView(
      topic,
      {page: 'sweeps', title: 'Sweeps', command: 'flexrack sweep list --all', again: 15},
      sweepsBody,
    )
  const drawn = {page: 'sweeps', title: name, command: `flexrack sweep show ${name}`, again: 15} as const
  return listView(topic, drawn, (value, error) => {
    const sweep = value?.find((one) => one.sweep === name)
    if (!sweep) throw new Failure(404, 'NOT_FOUND', error ?? `there is no sweep ${name}`)
    return sweepBody(sweep, error)
  })
}

export function idleView(path: readonly string[], query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const days = LOOK_BACK.find((one) => String(one) === query.get('days')) ?? 7
  const {topics, view, hands} = site
  const topic = topics.open(`${view} idle ${days}`, IDLE_MS, () => hands.askAny(view, 'idle', {days}))
  const drawn = {page: 'idle', title: 'Idle GPUs', command: `flexrack gpu idle --since ${days}d`, again: 60} as const
  return listView(topic, drawn, (value, error, now) => idleBody(value, error, days, now))
}

export function notebooksView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const drawn = {page: 'notebooks', title: 'Notebooks', command: 'flexrack notebook list', again: 15} as const
  return listView(asked(site, 'notebooks', {}), drawn, (value, error, now) =>
    notebooksBody(value, error, site.may, now),
  )
}

export function dataView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  return listView(
    asked(site, 'data', {}),
    {page: 'data', title: 'Data sets', command: 'flexrack data list', again: 30},
    dataBody,
  )
}

export function peopleView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const {parts, user, topics, login} = site
  const {tokens, claims} = parts
  const read = async (): Promise<PeopleSeen> => {
    const [quotas, queue] = await Promise.all([claims.uses(), claims.queue()])
    const seen = tokens.ofUsers(user?.name).filter(([id]) => user?.token === undefined || id === user.token)
    return {...factsFor(user, parts), tokens: seen.map(([id, kept]) => tokenFacts(id, kept)), quotas, queue}
  }
  return listView(
    topics.open(`${login} people`, LOOK_MS, read),
    {page: 'people', title: 'People', command: 'flexrack user list', again: 15},
    (value, error, now) => (value ? peopleBody(value, now) : html`${warning(error)}`),
    read,
  )
}

export function auditView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const {parts, user, topics} = site
  if (user) return {draw: () => Promise.reject(takesAdmin('a look at the audit log', user.name))}
  const read = (): Promise<HeadAudit[]> => parts.audit.newest(MOST_NOTED)
  const drawn = {page: 'audit', title: 'Audit', command: 'flexrack audit', again: 30} as const
  return listView(topics.open('audit', LOOK_MS, read), drawn, auditBody, read)
}

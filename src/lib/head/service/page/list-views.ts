import type {PageAsk, PageAsks} from '../../types.ts'
import {Failure} from '../failure.ts'
import {factsFor} from '../people/api.ts'
import {takesAdmin} from '../people/person.ts'
import {tokenFacts} from '../people/token-api.ts'
import {describeEndpoint} from '../releases/api.ts'
import {endpointBody, endpointParts, endpointsBody, endpointsTable, type EndpointFacts} from './endpoints.ts'
import {idleBody, LOOK_BACK} from './idle.ts'
import {auditBody, dataBody, modelsBody, notebooksBody} from './lists.ts'
import {liveParts} from './live.ts'
import {modelFacts} from './mlflow-facts.ts'
import {peopleBody} from './people.ts'
import {allPlaces} from './seen.ts'
import {sweepBody, sweepsBody} from './sweeps.ts'
import type {Topic} from './topics.ts'
import {invokeCommand, type Tried} from './try.ts'
import type {Site, View} from './views.ts'

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

export function modelsView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const {topics, parts, view} = site
  const topic = topics.open(`${view} models`, MODELS_MS, () => {
    if (!parts.mlflow.isReady) throw new Failure(503, 'HEAD_FAILED', 'the registry is not ready yet')
    return modelFacts(allPlaces(site))
  })
  return {
    draw: async () => {
      const {value, error} = await topic.fresh()
      return {
        page: 'models',
        title: 'Models',
        body: modelsBody(value ?? [], error, Date.now()),
        command: 'flexrack model list',
        again: 30,
      }
    },
  }
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
  return {
    draw: async () => {
      const {value = [], error} = await asked(site, 'sweeps', {}).fresh()
      if (name === undefined)
        return {
          page: 'sweeps',
          title: 'Sweeps',
          body: sweepsBody(value, error),
          command: 'flexrack sweep list --all',
          again: 15,
        }
      const sweep = value.find((one) => one.sweep === name)
      if (!sweep) throw new Failure(404, 'NOT_FOUND', error ?? `there is no sweep ${name}`)
      return {page: 'sweeps', title: name, body: sweepBody(sweep), command: `flexrack sweep show ${name}`, again: 15}
    },
  }
}

export function idleView(path: readonly string[], query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const days = LOOK_BACK.find((one) => String(one) === query.get('days')) ?? 7
  const {topics, view, hands} = site
  const topic = topics.open(`${view} idle ${days}`, IDLE_MS, () => hands.askAny(view, 'idle', {days}))
  return {
    draw: async () => {
      const {value, error} = await topic.fresh()
      const body = idleBody(value, error, days, Date.now())
      return {page: 'idle', title: 'Idle GPUs', body, command: `flexrack gpu idle --since ${days}d`, again: 60}
    },
  }
}

export function notebooksView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  return {
    draw: async () => {
      const {value, error} = await asked(site, 'notebooks', {}).fresh()
      const body = notebooksBody(value ?? [], error, site.may, Date.now())
      return {page: 'notebooks', title: 'Notebooks', body, command: 'flexrack notebook list', again: 15}
    },
  }
}

export function dataView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  return {
    draw: async () => {
      const {value, error} = await asked(site, 'data', {}).fresh()
      return {
        page: 'data',
        title: 'Data sets',
        body: dataBody(value ?? [], error, Date.now()),
        command: 'flexrack data list',
        again: 30,
      }
    },
  }
}

export function peopleView(path: readonly string[], _query: URLSearchParams, {parts, user}: Site): View | undefined {
  if (path.length > 0) return undefined
  const {tokens, claims} = parts
  return {
    draw: async () => {
      const [quotas, queue] = await Promise.all([claims.uses(), claims.queue()])
      const seen = tokens.ofUsers(user?.name).filter(([id]) => user?.token === undefined || id === user.token)
      const made = seen.map(([id, kept]) => tokenFacts(id, kept))
      const body = peopleBody({...factsFor(user, parts), tokens: made, quotas, queue}, Date.now())
      return {page: 'people', title: 'People', body, command: 'flexrack user list', again: 15}
    },
  }
}

export function auditView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  return {
    draw: async () => {
      if (site.user) throw takesAdmin('a look at the audit log', site.user.name)
      return {
        page: 'audit',
        title: 'Audit',
        body: auditBody(await site.parts.audit.newest(MOST_NOTED), Date.now()),
        command: 'flexrack audit',
      }
    },
  }
}

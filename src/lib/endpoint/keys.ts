import {CliError, count, isCliError, nearestName, Secret} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type Plan, type PlanOf} from '../plan/index.ts'
import type {Site} from './site.ts'
import {requireEndpoint} from './store.ts'

/** A key of one client of an endpoint, and what was done with it since the head's start. Times: milliseconds since 1970. */
export interface EndpointKey {
  client: string
  createdAt: number
  expiresAt: number
  /** Null: no limit. */
  requestsPerSecond: number | null
  concurrency: number | null
  tokensPerMinute: number | null
  inFlight: number
  requests: number
  /** Of OpenAI's API, prompts and completions, where answers tell. */
  tokens: number
  /** Of the requests: those over a limit. */
  refused: number
}

/** `seconds`: after how long it ends. */
export type KeyInput = {
  client: string
  seconds: number
  requestsPerSecond?: number
  concurrency?: number
  tokensPerMinute?: number
}

/** The secret is shown this once: the head keeps a hash of it. */
export interface MadeKey {
  endpoint: string
  client: string
  key: Secret
  expiresAt: number
  /** Base URL of the endpoint. */
  url: string
  /** The same at the standby, where one follows. */
  standbyUrl?: string
}

/** Errors: NOT_FOUND, CONFLICT (the client has one), USAGE, and those of the head's connection. */
export interface EndpointKeys {
  list(name: string): Promise<EndpointKey[]>
  planAdd(name: string, input: KeyInput): Promise<Plan>
  add(name: string, input: KeyInput): Promise<MadeKey>
  planRevoke(name: string, clients: string[]): Promise<Plan>
  revoke(name: string, clients: string[]): Promise<{endpoint: string; client: string}[]>
}

type KeyKinds = {
  'key.make': {input: {endpoint: string} & KeyInput; output: {key: Secret; expiresAt: number}}
  'key.revoke': {input: {endpoint: string; client: string}; output: {endpoint: string; client: string}}
}

type KeyEnv = Pick<Site, 'head' | 'context'>

const HANDLERS: Handlers<KeyKinds, KeyEnv> = {'key.make': make, 'key.revoke': revoke}

export function endpointKeys(site: Site): EndpointKeys {
  const {head} = site
  const run = async (plan: PlanOf<KeyKinds>): ReturnType<typeof executePlan<KeyKinds, KeyEnv>> => {
    const outcomes = await executePlan(plan, HANDLERS, site, site.context)
    throwIfFailed(outcomes)
    return outcomes
  }
  const planAdd = async (name: string, input: KeyInput): Promise<PlanOf<KeyKinds>> => {
    await requireEndpoint(head, name)
    return {command: 'endpoint key add', steps: [addStep(site, name, input)]}
  }
  const planRevoke = async (name: string, clients: string[]): Promise<PlanOf<KeyKinds>> => {
    const there = (await listKeys(head, name)).map((one) => one.client)
    return {
      command: 'endpoint key revoke',
      steps: [...new Set(clients)].map((one) => revokeStep(site, name, one, there)),
    }
  }
  return {
    list: (name) => listKeys(head, name),
    planAdd,
    planRevoke,
    add: async (name, input) => {
      const [made] = valuesOf<KeyKinds, 'key.make'>(await run(await planAdd(name, input)), 'key.make')
      return {endpoint: name, client: input.client, ...made!, ...addressesOf(site, name)}
    },
    revoke: async (name, clients) =>
      valuesOf<KeyKinds, 'key.revoke'>(await run(await planRevoke(name, clients)), 'key.revoke'),
  }
}

function addStep(site: Site, endpoint: string, input: KeyInput): PlanOf<KeyKinds>['steps'][number] {
  const {client, requestsPerSecond: rate, concurrency, tokensPerMinute: tokens, seconds} = input
  const limits = [
    `until ${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 16)}Z`,
    ...(rate === undefined ? [] : [`${count(rate, 'request')} a second`]),
    ...(concurrency === undefined ? [] : [`${concurrency} at once`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens a minute`]),
  ].join(', ')
  const title = `Make a key of ${client} for endpoint ${endpoint} (${limits})`
  return {id: 'key', node: site.rack.head.node, kind: 'key.make', title, input: {endpoint, ...input}, needs: []}
}

function revokeStep(site: Site, endpoint: string, client: string, there: string[]): PlanOf<KeyKinds>['steps'][number] {
  if (!there.includes(client)) {
    const nearest = nearestName(client, there)
    const message = `${client} has no key for endpoint ${endpoint}${nearest ? `; did you mean ${nearest}?` : ''}`
    throw new CliError('NOT_FOUND', message, {hint: `flexrack endpoint key list ${endpoint}`})
  }
  const title = `Revoke the key of ${client} for endpoint ${endpoint}, and end what is under way with it`
  return {id: client, node: site.rack.head.node, kind: 'key.revoke', title, input: {endpoint, client}, needs: []}
}

interface WireKey {
  client: string
  created_at: number
  expires_at: number
  requests_per_second: number | null
  concurrency: number | null
  tokens_per_minute?: number | null
  tokens?: number
  in_flight: number
  requests: number
  refused: number
}

async function listKeys(head: HeadConnection, name: string): Promise<EndpointKey[]> {
  await requireEndpoint(head, name)
  const {keys} = await head.request<{keys: WireKey[]}>('GET', pathOf(name))
  return keys.map(
    ({created_at, expires_at, requests_per_second, tokens_per_minute = null, in_flight, tokens = 0, ...same}) => ({
      ...same,
      createdAt: created_at,
      expiresAt: expires_at,
      requestsPerSecond: requests_per_second,
      tokensPerMinute: tokens_per_minute,
      inFlight: in_flight,
      tokens,
    }),
  )
}

async function make(
  {endpoint, client, seconds, requestsPerSecond, concurrency, tokensPerMinute}: {endpoint: string} & KeyInput,
  _done: unknown,
  {head}: {head: HeadConnection},
): Promise<{key: Secret; expiresAt: number}> {
  try {
    const made = await head.request<{token: string; expires_at: number}>('POST', '/flexrack/v1/tokens', {
      kind: 'endpoint',
      endpoint,
      client,
      ttl_seconds: seconds,
      ...(requestsPerSecond !== undefined && {requests_per_second: requestsPerSecond}),
      ...(concurrency !== undefined && {concurrency}),
      ...(tokensPerMinute !== undefined && {tokens_per_minute: tokensPerMinute}),
    })
    return {key: new Secret(made.token), expiresAt: made.expires_at}
  } catch (error) {
    if (!isCliError(error, 'CONFLICT')) throw error
    throw new CliError('CONFLICT', error.message, {
      hint: `flexrack endpoint key revoke ${endpoint} ${client}, or take another name, so that both work for a while`,
      cause: error,
    })
  }
}

async function revoke(
  key: {endpoint: string; client: string},
  _done: unknown,
  {head, context}: KeyEnv,
): Promise<{endpoint: string; client: string}> {
  const {followed} = await head.request<{followed?: boolean}>(
    'DELETE',
    `${pathOf(key.endpoint)}/${encodeURIComponent(key.client)}`,
  )
  if (followed === false)
    context.reporter.warn(
      `the standby has not heard yet that the key of ${key.client} is revoked; until it has, the key works there`,
    )
  return key
}

function addressesOf({head, standbyUri}: Site, name: string): Pick<MadeKey, 'url' | 'standbyUrl'> {
  const url = `${head.nodeUri}/endpoints/${name}`
  return {url, ...(standbyUri !== undefined && {standbyUrl: `${standbyUri}/endpoints/${name}`})}
}

function pathOf(endpoint: string): string {
  return `/flexrack/v1/endpoints/${encodeURIComponent(endpoint)}/keys`
}

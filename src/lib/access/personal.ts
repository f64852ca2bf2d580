import {CliError, Secret, type Context} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf} from '../plan/index.ts'

/** MLflow's own names of its settings. */
export type TrackingEnv = Record<'MLFLOW_TRACKING_URI' | 'MLFLOW_TRACKING_TOKEN', string> &
  Partial<Record<'MLFLOW_TRACKING_SERVER_CERT_PATH' | 'MLFLOW_WORKSPACE' | 'MLFLOW_EXPERIMENT_NAME', string>>

/** A token of a person's own: MLflow's API as this person, until it ends. */
export interface PersonalToken {
  id: string
  /** What it is for, in its owner's words. */
  name: string
  /** Milliseconds since 1970. */
  createdAt: number
  expiresAt: number
}

type Ended = {id: string; name: string}

export type PersonalKinds = {
  /** `seconds`: after how long it ends. */
  'token.make': {input: {name: string; seconds: number}; output: {id: string; token: Secret; expiresAt: number}}
  'token.end': {input: Ended; output: Ended}
}

const HANDLERS: Handlers<PersonalKinds, {head: HeadConnection}> = {'token.make': make, 'token.end': end}
const API = '/flexrack/v1/tokens'
const WORDS: [seconds: number, one: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
]

/** Pure. */
export function planPersonal(node: string, name: string, seconds: number): PlanOf<PersonalKinds> {
  const title = `Make a token "${name}" for MLflow's API, which ends after ${lengthOf(seconds)}`
  return {
    command: 'tracking env',
    steps: [{id: 'token', node, kind: 'token.make', title, input: {name, seconds}, needs: []}],
  }
}

/** The tokens that `ids` name, or `all`. Errors: NOT_FOUND. */
export function planEnding(node: string, there: PersonalToken[], ids: string[]): PlanOf<PersonalKinds> {
  const named = ids.map((id) => (id === 'all' ? there : [there.find((one) => one.id === id) ?? missing(id)]))
  const steps = [...new Set(named.flat())].map(({id, name}) => ({
    id,
    node,
    kind: 'token.end' as const,
    title: `End the token ${id} ("${name}")`,
    input: {id, name},
    needs: [],
  }))
  return {command: 'tracking tokens', steps}
}

/** Errors: those of the connection's request. */
export async function carryOutPersonal(
  plan: PlanOf<PersonalKinds>,
  head: HeadConnection,
  context: Context,
): Promise<{made: {id: string; token: Secret; expiresAt: number} | undefined; ended: Ended[]}> {
  const outcomes = await executePlan(plan, HANDLERS, {head}, context)
  throwIfFailed(outcomes)
  return {
    made: valuesOf<PersonalKinds, 'token.make'>(outcomes, 'token.make')[0],
    ended: valuesOf<PersonalKinds, 'token.end'>(outcomes, 'token.end'),
  }
}

export async function personalTokens(head: HeadConnection): Promise<PersonalToken[]> {
  const {tokens} = await head.request<{tokens: {id: string; name: string; created_at: number; expires_at: number}[]}>(
    'GET',
    API,
  )
  return tokens.map(({id, name, created_at: createdAt, expires_at: expiresAt}) => ({id, name, createdAt, expiresAt}))
}

async function make(
  {name, seconds}: {name: string; seconds: number},
  _done: unknown,
  {head}: {head: HeadConnection},
): Promise<{id: string; token: Secret; expiresAt: number}> {
  const {
    id,
    token,
    expires_at: expiresAt,
  } = await head.request<{id: string; token: string; expires_at: number}>('POST', API, {
    kind: 'personal',
    name,
    ttl_seconds: seconds,
  })
  return {id, token: new Secret(token), expiresAt}
}

async function end(token: Ended, _done: unknown, {head}: {head: HeadConnection}): Promise<Ended> {
  await head.request('DELETE', `${API}/${encodeURIComponent(token.id)}`)
  return token
}

function missing(id: string): never {
  throw new CliError('NOT_FOUND', `there is no personal token ${id}`, {hint: 'flexrack tracking tokens'})
}

function lengthOf(seconds: number): string {
  const [unit, word] = WORDS.find(([size]) => seconds % size === 0) ?? [1, 's']
  return `${seconds / unit}${word}`
}

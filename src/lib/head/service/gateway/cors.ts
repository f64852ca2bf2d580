import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http'
import {isOrigin} from '../../../base/index.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import {Failure} from '../failure.ts'

const MOST_ORIGINS = 100
const LONGEST_ORIGIN = 300
/** Names of headers, as a browser lists those that a page wants to send; of OpenAI's client there are a dozen. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{0,4000}$/
/** Browsers keep an answer no longer than that, some less. */
const MAX_AGE_SECONDS = 600

type Headers = IncomingHttpHeaders

/**
 * What an answer says to the browser of a page that may read it (the Fetch standard, "CORS protocol"): undefined where
 * the endpoint names no pages. Cookies are never let through, as pages show a key.
 */
export function corsHeaders(record: EndpointRecord | undefined, {origin}: Headers): Record<string, string> | undefined {
  const origins = record?.document.cors
  if (origins === undefined) return undefined
  if (origins.includes('*')) return {'access-control-allow-origin': '*', 'access-control-expose-headers': '*'}
  // Also where no page asks: whoever keeps answers must not give one to a page ("CORS protocol and HTTP caches").
  if (origin === undefined || !origins.includes(origin)) return {vary: 'origin'}
  return {'access-control-allow-origin': origin, 'access-control-expose-headers': '*', vary: 'origin'}
}

/** Whether a browser asks what a page of an origin may do; with a key it asks afterwards. */
export function isPreflight({method, headers}: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** Tells a browser what it may send. False where its page may not: it is answered like everybody else then. */
export function answerPreflight(
  record: EndpointRecord | undefined,
  {headers}: IncomingMessage,
  response: ServerResponse,
): boolean {
  const said = corsHeaders(record, headers)
  const wanted = headers['access-control-request-headers'] ?? ''
  if (said?.['access-control-allow-origin'] === undefined || !HEADER_NAMES.test(String(wanted))) return false
  response.writeHead(204, {
    'access-control-allow-origin': said['access-control-allow-origin'],
    'access-control-allow-methods': 'GET, HEAD, POST',
    // `*` would not cover authorization.
    ...(wanted !== '' && {'access-control-allow-headers': wanted}),
    'access-control-max-age': String(MAX_AGE_SECONDS),
    vary: 'origin, access-control-request-headers',
  })
  response.end()
  return true
}

/** What a model server says to browsers is not its to say: the endpoint names its pages, or has none. Changes `headers`. */
export function withoutCors(headers: Headers): Headers {
  for (const name in headers) if (name.startsWith('access-control-')) delete headers[name]
  return headers
}

/** Of two lists of headers that an answer depends on. */
export function withVary(headers: Headers, said: Record<string, string>): Record<string, string> {
  const {vary} = said
  return vary === undefined || headers.vary === undefined ? said : {...said, vary: `${headers.vary}, ${vary}`}
}

/** 400 where the gateway could not use it. */
export function checkCors(cors: unknown): void {
  if (cors === undefined) return
  if (!Array.isArray(cors) || cors.length > MOST_ORIGINS || !cors.every(mayBeNamed))
    throw new Failure(400, 'USAGE', `cors must be up to ${MOST_ORIGINS} origins such as https://app.example, or "*"`)
}

function mayBeNamed(one: unknown): boolean {
  return one === '*' || (typeof one === 'string' && one.length <= LONGEST_ORIGIN && isOrigin(one))
}

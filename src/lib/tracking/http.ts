import type {Readable} from 'node:stream'
import type {Dispatcher} from 'undici'
import {CliError, isLoopbackUrl, type Secret} from '../base/index.ts'
import {errorFromAnswer, errorFromTransport, isPassing} from './http-errors.ts'

/** One HTTP request. Nothing here is ever logged; the token goes into a header only. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute http(s) URL. */
  url: string
  /** What the other side is, for messages: `the head of rack local`. */
  peer?: string
  token?: Secret
  /** `user:password`, for servers with basic authentication. */
  basic?: Secret
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: Readable | Uint8Array
  /** Milliseconds until the headers of the answer; default 30 s. */
  timeout?: number
  signal?: AbortSignal
  /** How often a GET is tried again when the other side is not reachable or busy (503); default 3, others never. */
  retries?: number
}

/** An answer with status 2xx whose body is still to be read (or destroyed). */
export interface HttpAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Readable
}

const FIRST_PAUSE_MS = 200

/**
 * Sends a request and parses the JSON answer; an empty answer is `undefined`. Errors: NODE_UNREACHABLE, REFUSED (401,
 * 403), NOT_FOUND (404), CONFLICT and LOCKED (409), TIMED_OUT, INTERRUPTED, HEAD_FAILED (the rest).
 */
export async function requestJson<T>(request: HttpRequest): Promise<T> {
  const answer = await requestStream(request)
  const text = await readText(answer.body, request)
  if (text === '') return undefined as T
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new CliError('HEAD_FAILED', `${peerOf(request)} answered with something that is not JSON`, {
      details: {url: request.url},
      cause: error,
    })
  }
}

/** Like requestJson, for bodies that are streamed. Statuses other than 2xx throw. */
export async function requestStream(request: HttpRequest): Promise<HttpAnswer> {
  const tries = request.method === 'GET' ? (request.retries ?? 3) : 0
  for (let attempt = 0; ; attempt++) {
    try {
      return await sendOnce(request)
    } catch (error) {
      if (attempt >= tries || !isPassing(error) || request.signal?.aborted) throw error
      await pause(FIRST_PAUSE_MS * 2 ** attempt, request.signal)
    }
  }
}

async function sendOnce(request: HttpRequest): Promise<HttpAnswer> {
  const {request: send} = await import('undici')
  const headers: Record<string, string> = {...request.headers}
  if (request.token) headers.authorization = `Bearer ${request.token.reveal()}`
  else if (request.basic) headers.authorization = `Basic ${Buffer.from(request.basic.reveal()).toString('base64')}`
  if (request.json !== undefined) headers['content-type'] = 'application/json'
  let answer: Dispatcher.ResponseData
  try {
    answer = await send(request.url, {
      method: request.method,
      headers,
      body: request.json === undefined ? (request.body ?? null) : JSON.stringify(request.json),
      headersTimeout: request.timeout ?? 30_000,
      bodyTimeout: 120_000,
      signal: request.signal,
      dispatcher: await dispatcherFor(request.url),
    })
  } catch (error) {
    throw errorFromTransport(error, peerOf(request), request.signal)
  }
  if (answer.statusCode >= 200 && answer.statusCode < 300)
    return {status: answer.statusCode, headers: answer.headers, body: answer.body}
  const text = await readText(answer.body, request).catch(() => '')
  throw errorFromAnswer(answer.statusCode, text, peerOf(request))
}

let direct: Promise<Dispatcher> | undefined
let proxied: Promise<Dispatcher> | undefined

/** Loopback is never sent through a proxy; other addresses honour HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
function dispatcherFor(url: string): Promise<Dispatcher> {
  if (isLoopbackUrl(url))
    return (direct ??= import('undici').then(
      ({Agent}) => new Agent({connect: {timeout: 10_000}, keepAliveTimeout: 4000}),
    ))
  return (proxied ??= import('undici').then(
    ({EnvHttpProxyAgent}) => new EnvHttpProxyAgent({connect: {timeout: 10_000}, keepAliveTimeout: 4000}),
  ))
}

async function readText(body: Readable, request: HttpRequest): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of body) chunks.push(chunk as Buffer)
  } catch (error) {
    throw errorFromTransport(error, peerOf(request), request.signal)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function peerOf(request: HttpRequest): string {
  return request.peer ?? new URL(request.url).origin
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), {once: true})
  })
}

import type {Secret} from '../base/index.ts'
import {requestJson, type HttpRequest} from './http.ts'

/** Where a tracking server is and what opens it. */
export interface MlflowAddress {
  /** Base URL, usable as MLFLOW_TRACKING_URI; a path prefix is kept. */
  uri: string
  token?: Secret
  /** `user:password`. */
  basic?: Secret
  /** The project that is worked in: a head keeps those apart that people have roles in. */
  project?: string | undefined
  signal?: AbortSignal
}

/** The REST API of one server: knows its base URL and credentials. */
export interface Api {
  readonly base: string
  get<T>(path: string, query?: Query): Promise<T>
  send<T>(method: 'POST' | 'PATCH' | 'DELETE' | 'PUT', path: string, json: unknown): Promise<T>
  /** Credentials and name of the server, for requests that stream. */
  request(method: HttpRequest['method'], path: string, query?: Query): HttpRequest
}

export type Query = Record<string, string | number | undefined>

/**
 * Paths are given below `/api/2.0/mlflow`; those that begin with `/api/` or are marked with `//` are taken from the
 * base.
 */
export function openApi(address: MlflowAddress): Api {
  const base = address.uri.replace(/\/+$/, '')
  const request = (method: HttpRequest['method'], path: string, query: Query = {}): HttpRequest => {
    const words = Object.entries(query).flatMap<[string, string]>(([key, value]) =>
      value === undefined ? [] : [[key, String(value)]],
    )
    const search = words.length > 0 ? `?${new URLSearchParams(words)}` : ''
    const full = path.startsWith('/api/') ? path : path.startsWith('//') ? path.slice(1) : `/api/2.0/mlflow${path}`
    return {
      method,
      url: `${base}${full}${search}`,
      peer: `the tracking server ${base}`,
      token: address.token,
      basic: address.basic,
      signal: address.signal,
      ...(address.project !== undefined && {headers: {'flexrack-project': encodeURIComponent(address.project)}}),
    }
  }
  return {
    base,
    request,
    get: (path, query) => requestJson(request('GET', path, query)),
    send: (method, path, json) => requestJson({...request(method, path), json}),
  }
}

/** Follows next_page_token until there is no more, or `limit` items are there. */
export async function readPages<T>(
  limit: number,
  page: (token: string | undefined) => Promise<{items: T[] | undefined; next?: string}>,
): Promise<T[]> {
  const all: T[] = []
  let token: string | undefined
  do {
    const {items, next} = await page(token)
    all.push(...(items ?? []))
    token = next || undefined
  } while (token !== undefined && all.length < limit)
  return all.slice(0, limit)
}

import {Failure} from './failure.ts'

/**
 * Letters, digits and -._ that were written as %XX: nobody needs to, and the router and MLflow read them as if they
 * were not.
 */
const NEEDLESS = /%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9A])/i

/** Every reader takes such a path for the same, and most are: nothing is written as %XX, no part begins with a dot. */
const OBVIOUS = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/

/**
 * The path of a request's URL as the client wrote it. One that a URL parser or a decoder would read differently could
 * mean another thing further on than it meant to who checked it, and is refused.
 */
export function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? '/'
  if (OBVIOUS.test(path)) return path
  const isPlain =
    path.startsWith('/') &&
    !path.includes('//') &&
    !NEEDLESS.test(path) &&
    new URL(`http://head${path}`).pathname === path
  if (!isPlain) throw new Failure(400, 'USAGE', 'the path is not in its plain form')
  return path
}

/** Refuses a query that does not decode: whom it goes on to would fail over it, or read it in a way of its own. */
export function requireQuery(url: string): void {
  if (!url.includes('?')) return
  const query = url.slice(url.indexOf('?') + 1)
  try {
    decodeURIComponent(query)
  } catch {
    throw new Failure(400, 'USAGE', 'the query is not percent-encoded UTF-8')
  }
}

/** True of paths that are the head's own, never MLflow's, however they are written. */
export function isOurs(path: string): boolean {
  return /^\/(flexrack|endpoints)(\/|$)/i.test(path)
}

import {Failure} from './failure.ts'

/** The path of a request's URL as the client wrote it; one that a URL parser would change could mean another thing further on, and is refused. */
export function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? '/'
  if (!path.startsWith('/') || path.includes('//') || new URL(`http://door${path}`).pathname !== path) throw new Failure(400, 'USAGE', 'the path is not in its plain form')
  return path
}

import {Failure} from '../failure.ts'

/** Of users and teams; MLflow takes the same for a workspace. */
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/
const RESERVED = new Set(['everyone', 'default', 'admin'])

/** Errors: 400. */
export function nameOf(what: string, name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new Failure(
      400,
      'USAGE',
      `a ${what} has a name of small letters, digits, dots, dashes and underscores; 63 at most`,
    )
  if (RESERVED.has(name)) throw new Failure(400, 'USAGE', `${name} is no name for a ${what}: it means something else`)
  return name
}

/** What a provider calls somebody, as a name here; undefined where nothing is left of it. */
export function nameFrom(text: string): string | undefined {
  const name = text
    .split('@', 1)[0]!
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 63)
    .replace(/[^a-z0-9]+$/, '')
  return NAME.test(name) && !RESERVED.has(name) ? name : undefined
}

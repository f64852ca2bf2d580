import {Failure} from '../failure.ts'

/** Of users and teams. */
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/
/** Of projects: each is a workspace of MLflow. */
const PROJECT = /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/
const RESERVED = new Set(['everyone', 'default', 'admin', 'workspaces', 'api', 'ajax-api', 'static-files'])

/** Errors: 400. */
export function nameOf(what: 'user' | 'team' | 'project', name: unknown): string {
  const isProject = what === 'project'
  if (typeof name !== 'string' || !(isProject ? PROJECT : NAME).test(name)) {
    const letters = isProject
      ? 'small letters, digits and dashes, 2 to 63'
      : 'small letters, digits, dots, dashes and underscores, 63 at most'
    throw new Failure(400, 'USAGE', `a ${what} has a name of ${letters}`)
  }
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

import {Failure} from '../failure.ts'
import {isPlaceTag} from './scope-traces.ts'

/**
 * A personal token writes to every run, experiment and model, but it names no place for the server to read from or to
 * delete at: with that, whoever has it would read and remove files of the account that the head runs as. Throws 403.
 */
export function checkPersonalScope(path: string, body: () => Record<string, unknown>): void {
  if (path.endsWith('/experiments/create')) requireNoPlace(valuesOf(body(), 'artifact_location', 'artifactLocation'))
  else if (/\/traces(?:$|\/)/.test(path)) requireNoPlaceTag(body())
}

function requireNoPlace(places: unknown[]): void {
  const place = places.find((one) => one !== undefined && one !== null && one !== '')
  if (place !== undefined) throw refusal(`artifacts of an experiment lie with the head's own, not at ${String(place)}`)
}

/**
 * Tags come as {key, value} alone or in lists, or as an object, at several depths: whatever of them names a place is
 * refused.
 */
function requireNoPlaceTag(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) {
    const key = isPlaceTag(name) ? name : name === 'key' && isPlaceTag(part) ? String(part) : undefined
    if (key !== undefined) throw refusal(`the tag ${key} of a trace is set by the tracking server`)
    requireNoPlaceTag(part)
  }
}

function valuesOf(body: Record<string, unknown>, ...names: string[]): unknown[] {
  return names.map((name) => body[name])
}

function refusal(reason: string): Failure {
  return new Failure(403, 'REFUSED', `this is a personal token: ${reason}`)
}

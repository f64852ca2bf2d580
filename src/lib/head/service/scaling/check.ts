import {Failure} from '../failure.ts'

const MOST_PLACES = 100
const LONGEST_SECONDS = 30 * 86_400
const SERVICE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** What a document says of how many servers there are to be; 400 where the head could not go by it. */
export function checkScaling(scaling: unknown): void {
  if (scaling === undefined) return
  if (typeof scaling !== 'object' || scaling === null) refuse('scaling must be an object')
  const {places, ...numbers} = scaling as Record<string, unknown>
  const {min, max} = numbers as {min: number; max: number}
  for (const key of ['min', 'max']) if (!isFrom(numbers[key], 0, MOST_PLACES)) refuse(`scaling.${key} must be a number`)
  if (!Number.isInteger(min) || !Number.isInteger(max) || max < 1 || min > max)
    refuse('scaling.min and max must be whole numbers, max 1 at least and min not above it')
  if (!isFrom(numbers.target, 0.01, 1e6)) refuse('scaling.target must be a number over 0')
  for (const key of ['idle', 'down', 'longestStart'])
    if (!isFrom(numbers[key], 0, LONGEST_SECONDS)) refuse(`scaling.${key} must be seconds, a month at most`)
  if (!Array.isArray(places) || places.length < max || places.length > MOST_PLACES || !places.every(isPlace))
    refuse('scaling.places must name a service, a node and a url each, and be as many as max')
  const services = (places as {service: string}[]).map(({service}) => service)
  if (new Set(services).size < services.length) refuse('scaling.places must be different ones')
}

function isPlace(place: unknown): boolean {
  if (typeof place !== 'object' || place === null) return false
  const {service, node, url} = place as Record<string, unknown>
  const isUrl = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  return typeof service === 'string' && SERVICE.test(service) && typeof node === 'string' && node !== '' && isUrl
}

function isFrom(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}

function refuse(message: string): never {
  throw new Failure(400, 'USAGE', message)
}

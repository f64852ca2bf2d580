import type {ServingProtocol} from '../../../protocol/index.ts'
import {Failure} from '../failure.ts'
import {checkScaling} from '../scaling/check.ts'

const PROTOCOLS = new Set<unknown>(['v2', 'openai', 'mlflow'] satisfies ServingProtocol[])
const MOST_STEPS = 20

/** What a document says of the release that serves; 400 where the gateway could not use it. */
export function checkActive(active: unknown): void {
  if (active === undefined || active === null) return
  const {targets = [], protocol, health, startSeconds, scaling} = object(active, 'active')
  checkTargets(targets)
  if (protocol !== undefined && !PROTOCOLS.has(protocol)) {
    const known = [...PROTOCOLS].join(', ')
    refuse(`protocol must be one of ${known}; this head knows no other: upgrade it with flexrack head start`)
  }
  if (health !== undefined && (typeof health !== 'string' || !/^\/[\x21-\x7e]*$/.test(health)))
    refuse('health must be a path')
  if (startSeconds !== undefined && !(isCount(startSeconds, 0) && (startSeconds as number) <= 3600))
    refuse('startSeconds must be a number from 0 to 3600')
  checkScaling(scaling)
}

/** The same of a release beside it. */
export function checkCanary(canary: unknown): void {
  if (canary === undefined || canary === null) return
  const {release, since, targets, steps, judge, header, shadow} = object(canary, 'canary')
  if (typeof release !== 'string' || typeof since !== 'string') refuse('a canary needs its release, and since when')
  checkTargets(targets)
  const isPercent = (one: unknown): boolean => typeof one === 'number' && one >= 0 && one <= 100
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > MOST_STEPS || !steps.every(isPercent))
    refuse(`steps must be 1 to ${MOST_STEPS} numbers from 0 to 100`)
  if (judge !== undefined) {
    const {minimum, hold} = object(judge, 'judge')
    if (!isCount(minimum, 1) || !isCount(hold, 0)) refuse('a judge needs a minimum of requests, and seconds to hold')
  }
  if (shadow !== undefined && shadow !== true) refuse('shadow must be true, or not be there')
  if (header !== undefined && (typeof header !== 'string' || !/^[a-z0-9-]{1,100}$/.test(header)))
    refuse('header must be the name of a header, in small letters')
}

function checkTargets(targets: unknown): void {
  if (!Array.isArray(targets)) refuse('targets must be a list')
  const bad = (targets as unknown[]).find((target) => !isTarget(target))
  if (bad !== undefined) refuse(`target ${JSON.stringify(bad)} is not an http URL`)
}

function isTarget(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

function isCount(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= least
}

function object(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  return refuse(`${name} must be an object or null`)
}

function refuse(message: string): never {
  throw new Failure(400, 'USAGE', message)
}

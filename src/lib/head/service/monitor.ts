import type {HeadTargets} from '../../protocol/index.ts'
import {Failure} from './failure.ts'

/** What Prometheus reads; a token of kind "metrics" opens them, too. */
export const METRICS_PATH = '/flexrack/v1/metrics'
export const SD_PATH = '/flexrack/v1/sd'

const MOST_TARGETS = 5000

/** What a monitor is to watch, as it was told when its token was made. Errors: 400. */
export function readTargets(given: unknown): HeadTargets[] {
  if (!Array.isArray(given) || given.length > MOST_TARGETS || !given.every(isGroup))
    throw new Failure(400, 'USAGE', `a monitor has at most ${MOST_TARGETS} groups of targets and labels`)
  return given.map(({targets, labels, until}) => ({targets, labels, ...(until !== undefined && {until})}))
}

/** The same in the format of http_sd (https://prometheus.io/docs/prometheus/latest/http_sd/), without those whose time is over. Pure. */
export function discovered(targets: HeadTargets[], now: number): {targets: string[]; labels: Record<string, string>}[] {
  return targets
    .filter(({until}) => until === undefined || until > now)
    .map(({targets: at, labels}) => ({targets: at, labels}))
}

function isGroup(one: unknown): one is HeadTargets {
  if (typeof one !== 'object' || one === null) return false
  const {targets, labels, until} = one as Record<string, unknown>
  const isText = (text: unknown): boolean => typeof text === 'string' && text.length <= 1000
  return (
    Array.isArray(targets) &&
    targets.every(isText) &&
    typeof labels === 'object' &&
    labels !== null &&
    Object.entries(labels).every(([name, value]) => /^[A-Za-z_]\w{0,200}$/.test(name) && isText(value)) &&
    (until === undefined || typeof until === 'number')
  )
}

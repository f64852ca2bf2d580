import {isOpenStatus, sizeText} from '../../../base/index.ts'
import type {PageRun} from '../../types.ts'
import {html, type Html} from './html.ts'

/** `1 d 4 h`, `12 min`, `8 s`: the two largest units that matter. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const units: [number, string][] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ]
  const at = units.findIndex(([size]) => seconds >= size)
  if (at === -1) return '0 s'
  const [size, name] = units[at]!
  const [small, smallName] = units[at + 1] ?? [0, '']
  const rest = small > 0 ? Math.floor((seconds % size) / small) : 0
  return `${Math.floor(seconds / size)} ${name}${rest > 0 ? ` ${rest} ${smallName}` : ''}`
}

/** Why it could not be looked at, and how old what is shown is; undefined where it could. */
export function outdated({error, at}: {error: string | undefined; at: number}, now: number): string | undefined {
  if (error === undefined || at === 0) return error
  return `${error.replace(/[.\s]+$/, '')}. What is shown was seen ${duration(now - at)} ago.`
}

/** A moment, told by how long ago it was; the moment itself where it is pointed at. */
export function ago(at: number | null, now: number): Html | undefined {
  if (at === null) return undefined
  return html`<time datetime="${new Date(at).toISOString()}" title="${new Date(at).toISOString()}"
    >${duration(now - at)} ago</time
  >`
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`
export const size = (bytes: number): string => sizeText(bytes)

/** `240 of 512 GiB`: both in the unit of the whole. */
export function sizes(part: number, whole: number): string {
  const power = whole < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(whole) / 10))
  const inUnit = (bytes: number): string => String(Number((bytes / 1024 ** power).toPrecision(3)))
  return `${inUnit(part)} of ${inUnit(whole)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}

const GOOD = new Set(['ok', 'active', 'finished', 'serving', 'running', 'ready', 'complete', 'held'])
const ACTIVE = new Set(['running', 'starting', 'waking', 'changing', 'waiting', 'queued', 'granted'])
const BAD = new Set(['failed', 'failing', 'lost', 'unreachable', 'stuck', 'refused'])

/** A state, by shape and colour. */
export function state(word: string): Html {
  const kind = BAD.has(word) ? 'bad' : ACTIVE.has(word) ? 'active' : GOOD.has(word) ? 'good' : 'calm'
  return html`<span class="state ${kind}"><i aria-hidden="true"></i>${word}</span>`
}

/** Whether a run goes on, or will. */
export function isOpen({status}: {status: string}): boolean {
  return isOpenStatus(status)
}

/** How long a run took, or has taken so far. */
export function tookOf(run: Pick<PageRun, 'status' | 'started' | 'ended'>, now: number): string | null {
  const {started, ended} = run
  return started === null ? null : duration((ended ?? (isOpen(run) ? now : started)) - started)
}

/** Whether a metric is what MLflow's client tells of the machine, not the run's own. */
export function isSystem(metric: string): boolean {
  return metric.startsWith('system/')
}

/** Names of the metrics that any of the runs has of its own. */
export function metricNames(runs: readonly Pick<PageRun, 'metrics'>[]): string[] {
  const names = new Set(runs.flatMap((one) => Object.keys(one.metrics)))
  return [...names].filter((one) => !isSystem(one)).sort()
}

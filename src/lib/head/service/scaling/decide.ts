import type {ScalingRules} from '../../types.ts'

/** Requests under way and waiting, on average over a time. Milliseconds since 1970. */
export interface Sample {
  from: number
  to: number
  load: number
  /** There was a request in it, however short. */
  isBusy: boolean
}

/** What earlier samples said. Plain data: each decision gives the next one. */
export interface Memory {
  since: number
  samples: Sample[]
  /** How many servers would have done, for as long as a shrink looks back: the most first, and then later ones that are less. */
  advice: {at: number; count: number}[]
  /** Until then the count only grows; 0: it is calm. */
  panicUntil: number
  lastBusy: number
}

/**
 * request: one came, and none runs. load, burst: the average of a minute, of six seconds. calm: fewer would have done. idle: no
 * request for long. bounds: the document has others.
 */
export type Reason = 'request' | 'load' | 'burst' | 'calm' | 'idle' | 'bounds'

export interface Decision {
  memory: Memory
  count: number
  /** Of another count than before. */
  reason?: Reason
  /** Why it is another count than before, a part of a sentence. */
  why?: string
}

export type Bounds = Pick<ScalingRules, 'min' | 'max' | 'target' | 'idle' | 'down'>

const STABLE_MS = 60_000
const PANIC_MS = 6000
/** The short average that asks for this many times the servers there are brings them at once. */
const PANIC_FACTOR = 2
/** An average is over this long at least, so that one moment after a wake does not count for a minute. */
const LEAST_MS = 2000
/** Averages are sums of floating-point numbers: a load of exactly the target is one server's. */
const ROUNDING = 1e-6

export function newMemory(now: number): Memory {
  return {since: now, samples: [], advice: [], panicUntil: 0, lastBusy: now}
}

/**
 * How many servers there should be, by concurrency: what is under way and what waits, a server's target of it each. The
 * average over 60 s says it, and over 6 s where that is twice what there is. More come at once; fewer when for `down`
 * seconds fewer would have done; none after `idle` seconds without any request. Pure. Why: docs/adr/0062.
 */
export function decide(before: Memory, sample: Sample, count: number, bounds: Bounds): Decision {
  const now = sample.to
  const {min, max, target, idle, down} = bounds
  const wakes = count === 0 && sample.isBusy
  const samples = [...(wakes ? [] : before.samples), sample].filter(({to}) => to > now - STABLE_MS)
  const lastBusy = sample.isBusy ? now : before.lastBusy
  const fits = (load: number): number => Math.ceil(load / target - ROUNDING)
  const stable = fits(average(samples, now, STABLE_MS))
  const short = fits(average(samples, now, PANIC_MS))
  const isPanic = count > 0 && Math.min(short, max) >= PANIC_FACTOR * count
  const panicUntil = isPanic ? now + STABLE_MS : before.panicUntil
  const wanted = now < panicUntil ? Math.max(stable, short) : stable
  // With fewer the next burst of the same kind would bring them back.
  const enough = Math.max(wanted, Math.floor(short / PANIC_FACTOR) + 1)
  const recent = before.advice.filter((one) => one.at > now - down * 1000 && one.count > enough)
  const advice = [...recent, {at: now, count: enough}]
  const memory: Memory = {since: before.since, samples, advice, panicUntil, lastBusy}
  const within = (one: number, least: number): number => Math.min(max, Math.max(least, one))
  if (count === 0) {
    const first = sample.isBusy ? within(fits(sample.load), 1) : min
    if (first === 0) return {memory, count: 0}
    return {memory, count: first, reason: sample.isBusy ? 'request' : 'bounds', why: 'a request came'}
  }
  if (min === 0 && now - lastBusy >= idle * 1000) {
    return {memory, count: 0, reason: 'idle', why: `no request for ${idle} s`}
  }
  const floor = Math.max(min, 1)
  const up = within(wanted, floor)
  if (up > count) {
    const reason = count < floor && wanted <= count ? 'bounds' : isPanic ? 'burst' : 'load'
    return {memory, count: up, reason, why: whyMore(memory, isPanic, target)}
  }
  if (count > max) return {memory, count: max, reason: 'bounds', why: `${max} at most`}
  const isCalm = now >= panicUntil && now - before.since >= down * 1000
  const least = within(advice[0]?.count ?? 0, floor)
  if (!isCalm || least >= count) return {memory, count}
  return {memory, count: least, reason: 'calm', why: `${least === 1 ? 'one' : least} would have done for ${down} s`}
}

/** Requests under way and waiting on average over the last minute. */
export function averageLoad({samples}: Memory, now: number): number {
  return average(samples, now, STABLE_MS)
}

function whyMore({samples}: Memory, isPanic: boolean, target: number): string {
  const window = isPanic ? PANIC_MS : STABLE_MS
  const load = average(samples, samples.at(-1)?.to ?? 0, window)
  return `${load.toFixed(1)} requests at once over ${window / 1000} s, ${target} a server`
}

function average(samples: Sample[], now: number, window: number): number {
  const begin = now - window
  let area = 0
  let covered = 0
  for (const {from, to, load} of samples) {
    const length = to - Math.max(from, begin)
    if (length <= 0) continue
    area += load * length
    covered += length
  }
  return area / Math.min(window, Math.max(covered, LEAST_MS))
}

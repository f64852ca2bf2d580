import {decayed, turnsOf, type Part, type Running, type Use, type Waiting} from '../../src/lib/fairness/index.ts'
import {generator} from './chaos/scenario.ts'

/** A run of a made-up workload: what it wants, and how long it really takes. Seconds. */
export interface Job {
  wants: Waiting
  takes: number
}

export interface Simulated {
  /** When each run started. */
  starts: Map<string, number>
  /** By when it was to start at the latest, as it was told when it came. */
  promised: Map<string, number>
  /** Longest and mean wait in seconds, by user. */
  waits: Map<string, number[]>
  /** GPU seconds that were used, of all there were until the last run came. */
  utilisation: number
}

export type UseOf = Use & {user: string}

const RACK = {nodes: 8, gpus: 4}

/** Runs of a week on 32 GPUs: many small ones, some that want whole nodes; limits that are up to thrice too long. */
export function workload(seed: number, {jobs = 120, exact = false, priorities = false} = {}): Job[] {
  const random = generator(seed)
  const pick = (most: number): number => Math.floor(random() * most)
  let at = 0
  return Array.from({length: jobs}, (_, index): Job => {
    at += -Math.log(1 - random()) * 1500
    const wide = random() < 0.25
    const takes = 300 + Math.floor(-Math.log(1 - random()) * (wide ? 4 * 3600 : 3600))
    const nodes = wide ? 1 + pick(4) : 1
    const first = pick(RACK.nodes)
    const offset = pick(RACK.gpus)
    const width = wide ? RACK.gpus : 1 + pick(2)
    const parts = Array.from({length: nodes}, (_none, node): Part => {
      const name = `n${(first + node) % RACK.nodes}`
      return {
        node: name,
        exclusive: false,
        gpus: Array.from({length: width}, (_g, gpu) => `${name}-${(offset + gpu) % RACK.gpus}`),
      }
    })
    const limit = exact ? takes : Math.ceil(takes * (1 + 2 * random()))
    const user = `user${Math.floor(random() ** 2 * 5)}` // some have much more than others
    const priority = priorities ? pick(3) : 0
    return {takes, wants: {run: `run-${index}`, user, parts, since: at, priority, limit: random() < 0.9 ? limit : null}}
  })
}

/**
 * Plays a workload on the rack. `strict`: whoever came first goes first, and nobody passes who waits for the same, as on
 * nodes without a head. `fair`: with what users had of late.
 */
export function simulate(jobs: readonly Job[], how: 'strict' | 'passing' | 'fair'): Simulated {
  const [starts, promised] = [new Map<string, number>(), new Map<string, number>()]
  const todo = jobs.toSorted((a, b) => a.wants.since - b.wants.since)
  const byRun = new Map(jobs.map((one) => [one.wants.run, one]))
  const uses: UseOf[] = []
  let running: (Running & {until: number})[] = []
  let waiting: Waiting[] = []
  let now = 0
  while (todo.length > 0 || waiting.length > 0) {
    now = Math.min(todo[0]?.wants.since ?? Infinity, ...running.map((one) => one.until))
    running = running.filter((one) => one.until > now)
    while (todo[0] && todo[0].wants.since <= now) waiting.push(todo.shift()!.wants)
    const turns = turnsOf({
      now,
      running,
      waiting: how === 'strict' ? waiting.map(withoutLimit) : waiting,
      used: how === 'fair' ? usedBy(uses, now) : {},
    })
    for (const {run, starts: goes, by} of turns) {
      if (!promised.has(run) && by !== null) promised.set(run, by)
      if (!goes) continue
      const {wants, takes} = byRun.get(run)!
      starts.set(run, now)
      running.push({run, parts: wants.parts, until: now + takes, ends: wants.limit === null ? null : now + wants.limit})
      uses.push({user: wants.user, gpus: gpusOf(wants), from: now, to: now + takes})
      waiting = waiting.filter((one) => one.run !== run)
    }
  }
  const end = Math.max(...jobs.map((one) => one.wants.since))
  const busy = uses.reduce((sum, {gpus, from, to}) => sum + gpus * Math.max(0, Math.min(to, end) - from), 0)
  const waits = Map.groupBy(jobs, (one) => one.wants.user)
  return {
    starts,
    promised,
    waits: new Map([...waits].map(([user, own]) => [user, own.map(({wants}) => starts.get(wants.run)! - wants.since)])),
    utilisation: busy / (end * RACK.nodes * RACK.gpus),
  }
}

/** What is wrong with it: two runs that have the same at once. */
export function collisions(jobs: readonly Job[], {starts}: Simulated): string[] {
  const spans = jobs.map(({wants, takes}) => ({
    wants,
    from: starts.get(wants.run)!,
    to: starts.get(wants.run)! + takes,
  }))
  const gpus = new Map<string, typeof spans>()
  for (const span of spans)
    for (const gpu of span.wants.parts.flatMap((one) => one.gpus)) gpus.set(gpu, [...(gpus.get(gpu) ?? []), span])
  return [...gpus].flatMap(([gpu, own]) => {
    const sorted = own.toSorted((a, b) => a.from - b.from)
    return sorted.slice(1).flatMap((one, index) => (one.from < sorted[index]!.to ? [`${gpu}: ${one.wants.run}`] : []))
  })
}

export function gpusOf({parts}: Waiting): number {
  return parts.reduce((sum, one) => sum + one.gpus.length, 0)
}

function withoutLimit(one: Waiting): Waiting {
  return {...one, limit: null}
}

export function usedBy(uses: readonly UseOf[], now: number): Record<string, number> {
  const used: Record<string, number> = {}
  for (const {user, ...use} of uses) used[user] = (used[user] ?? 0) + decayed(use, now)
  return used
}

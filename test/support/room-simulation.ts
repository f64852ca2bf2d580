import {SLICE_SECONDS, turnsOf, yieldsTo, type Holder, type Waiting} from '../../src/lib/fairness/index.ts'
import {lostWith} from '../../src/lib/fairness/room.ts'
import {gpusOf, usedBy, type Job, type UseOf} from './queue-simulation.ts'

export interface Span {
  run: string
  from: number
  to: number
  /** For whom it ended before it was over. */
  room?: string
}

export interface SimulatedRoom {
  spans: Span[]
  /** GPU seconds of work that were done twice. */
  lost: number
}

/** Between two checkpoints of every run. Seconds. */
export const CHECKPOINT_SECONDS = 900

/**
 * Plays a workload in which some runs make room, by the head's own rules: the first in line that does not start, and whose
 * holders all yield to it, gets what they have. They go on from their newest checkpoints. `preempts` false: nobody does.
 */
export function simulateRoom(jobs: readonly Job[], preemptible: ReadonlySet<string>, preempts: boolean): SimulatedRoom {
  const todo = jobs.toSorted((a, b) => a.wants.since - b.wants.since)
  const left = new Map(jobs.map((one) => [one.wants.run, one.takes]))
  const byRun = new Map(jobs.map((one) => [one.wants.run, one.wants]))
  const [spans, uses]: [Span[], UseOf[]] = [[], []]
  let running: (Holder & {until: number})[] = []
  let waiting: Waiting[] = []
  let [now, lost] = [0, 0]
  const end = (one: Holder & {until: number}, room?: string): void => {
    running = running.filter((other) => other !== one)
    spans.push({run: one.run, from: one.from, to: now, ...(room !== undefined && {room})})
    uses.push({user: one.user, gpus: one.gpus, from: one.from, to: now})
  }
  while (todo.length > 0 || waiting.length > 0 || running.length > 0) {
    const next = Math.min(todo[0]?.wants.since ?? Infinity, ...running.map((one) => one.until))
    // who may make room only after its slice is asked again then
    now = waiting.length > 0 ? Math.min(next, now + SLICE_SECONDS) : next
    for (const one of running)
      one.saved = one.from + Math.floor((now - one.from) / CHECKPOINT_SECONDS) * CHECKPOINT_SECONDS
    for (const one of running.filter(({until}) => until <= now)) end(one)
    while (todo[0] && todo[0].wants.since <= now) waiting.push(todo.shift()!.wants)
    const used = usedBy([...uses, ...running.map(({user, gpus, from}) => ({user, gpus, from, to: now}))], now)
    let turns = turnsOf({now, running, waiting, used})
    const first = turns.find((one) => !one.starts && one.before.length === 0)
    const preemptor = first && byRun.get(first.run)!
    const holders = running.filter((one) => first?.holders.includes(one.run))
    if (
      preempts &&
      preemptor &&
      holders.length === first.holders.length &&
      holders.every((one) => yieldsTo(one, preemptor, {now, used}))
    ) {
      for (const one of holders) {
        const again = lostWith(one, now) / one.gpus
        lost += lostWith(one, now)
        left.set(one.run, left.get(one.run)! - (now - one.from) + again)
        end(one, preemptor.run)
        waiting.push(byRun.get(one.run)!)
      }
      turns = turnsOf({now, running, waiting, used})
    }
    for (const {run} of turns.filter((one) => one.starts)) {
      const wants = byRun.get(run)!
      const {user, priority, parts, limit} = wants
      const ends = limit === null ? null : now + limit
      const until = now + left.get(run)!
      running.push({
        run,
        user,
        priority,
        parts,
        gpus: gpusOf(wants),
        ends,
        until,
        from: now,
        saved: now,
        preemptible: preemptible.has(run),
      })
      waiting = waiting.filter((one) => one.run !== run)
    }
  }
  return {spans, lost}
}

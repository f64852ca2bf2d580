import type {Part, QueueFacts, Running, Turn, Waiting} from './types.ts'
import {countedOf} from './used.ts'

/**
 * Who may start now, in the order of the line. What those before a run in line want is kept for them, from the moment by
 * which they start at the latest; a run that declared to be over by then passes them. Of what nobody declared nothing is
 * assumed: it may be over at any moment, and so nobody passes who waits for it. Pure.
 */
export function turnsOf(facts: QueueFacts): Turn[] {
  const {now} = facts
  const busy: Running[] = [...facts.running]
  const ahead: {wants: Waiting; by: number | null}[] = []
  const turns: Turn[] = []
  const line = inLine(facts)
  for (const wants of line) {
    const holders = busy.filter((one) => collide(one.parts, wants.parts))
    const before = ahead.filter((one) => collide(one.wants.parts, wants.parts))
    const over = wants.limit === null ? null : now + wants.limit
    const passes = over === null ? [] : before.filter(({by}) => by !== null && over <= by)
    const starts = holders.length === 0 && passes.length === before.length
    const by = starts ? now : latest([...holders.map((one) => one.ends), ...before.map(endOf)], now)
    turns.push({
      run: wants.run,
      starts,
      position: turns.length + 1,
      by,
      holders: holders.map((one) => one.run),
      before: before.map((one) => one.wants.run),
      passes: starts
        ? line.filter((one) => one !== wants && collide(one.parts, wants.parts)).map((one) => one.run)
        : [],
    })
    if (starts) busy.push({run: wants.run, parts: wants.parts, ends: over})
    else ahead.push({wants, by})
  }
  return turns
}

/**
 * The line: higher priorities first, then users who had less of late (in whole GPU hours), then who came first; the same
 * for everybody who knows the same. A project's own priorities say which of its runs has which of the places that they
 * have in the line of all: other projects wait no longer for them. Pure.
 */
function inLine({waiting, used}: Pick<QueueFacts, 'waiting' | 'used'>): Waiting[] {
  const rest = (a: Waiting, b: Waiting): number =>
    countedOf(used, a.user) - countedOf(used, b.user) ||
    a.since - b.since ||
    (a.run < b.run ? -1 : a.run > b.run ? 1 : 0)
  const line = waiting.toSorted((a, b) => abroad(b) - abroad(a) || rest(a, b))
  const within = waiting.toSorted((a, b) => abroad(b) - abroad(a) || b.priority - a.priority || rest(a, b))
  const own = Map.groupBy(within, (one) => one.project)
  return line.map((one) => own.get(one.project)!.shift()!)
}

/** What a priority is worth to runs of other projects. Pure. */
export function abroad({priority, rack}: Pick<Waiting, 'priority' | 'rack'>): number {
  return rack === true ? priority : Math.min(priority, 0)
}

/** Whether only one of two can have what it wants: the rule of the nodes (reservation/rules.py). Pure. */
export function collide(some: readonly Part[], others: readonly Part[]): boolean {
  const [few, many] = some.length <= others.length ? [some, others] : [others, some]
  const {gpus, nodes} = namesIn(many)
  return few.some(
    (one) =>
      one.gpus.some((gpu) => gpus.has(gpu)) || (one.exclusive ? nodes.has(one.node) : nodes.get(one.node) === true),
  )
}

interface Names {
  gpus: Set<string>
  /** Whether somebody wants a node alone. */
  nodes: Map<string, boolean>
}
/** Everybody in a line is compared with everybody else: what each names is looked through once. */
const known = new WeakMap<readonly Part[], Names>()

function namesIn(parts: readonly Part[]): Names {
  const found = known.get(parts)
  if (found) return found
  const names: Names = {gpus: new Set(parts.flatMap((one) => one.gpus)), nodes: new Map()}
  for (const {node, exclusive} of parts) names.nodes.set(node, exclusive || names.nodes.get(node) === true)
  known.set(parts, names)
  return names
}

function endOf({wants, by}: {wants: Waiting; by: number | null}): number | null {
  return by === null || wants.limit === null ? null : by + wants.limit
}

/** The latest of them, none before now; null where one is not known. A run that is over its time ends any moment. */
function latest(ends: readonly (number | null)[], now: number): number | null {
  let found = now
  for (const end of ends) {
    if (end === null) return null
    found = Math.max(found, end)
  }
  return found
}

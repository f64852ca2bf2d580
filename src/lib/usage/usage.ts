import type {QuotaUse} from '../head/index.ts'
import type {RackUsage} from './read.ts'

/**
 * An attempt of a run on one node, as node/flexrack_node/measure/usage.py tells of it; or a whole run, as the tracking
 * server does. Times in seconds since 1970.
 */
export interface UsageEntry {
  run: string
  project: string | null
  /** `ada@laptop`: who started it, and where; from the tracking server `ada`. */
  user: string
  rack: string
  /** Null where only the tracking server knows of it: then `nodes` has them. */
  node: string | null
  nodes: string[]
  started: number
  ended: number
  gpus: number
  /** Seconds of one CPU; null where nobody counted. */
  cpu: number | null
  /** Seconds of one GPU over which its load was measured, and of them those in which it computed; null: not measured. */
  gpuSeen: number | null
  gpuBusy: number | null
  /** It still runs. */
  open: boolean
  source: 'node' | 'record'
}

export const usageBy = ['user', 'project', 'node', 'rack', 'day', 'hour'] as const
export type UsageBy = (typeof usageBy)[number]

/** What somebody, or something, had. Hours within the time that was asked for. */
export interface UsageRow {
  name: string
  runs: number
  /** Of them, those that still run. */
  running: number
  gpuHours: number
  /** Of GPUs whose load was measured, and of these the hours in which they computed; null where nobody measured. */
  gpuSeenHours: number | null
  gpuBusyHours: number | null
  /** Of one CPU, really used; null where nobody counted. */
  coreHours: number | null
  /** Of whole nodes that a run was on, alone or not. */
  nodeHours: number
}

export interface UsageReport {
  by: UsageBy
  /** Seconds since 1970; 0: from the beginning. */
  since: number
  until: number
  rows: UsageRow[]
  total: Omit<UsageRow, 'name'>
  /** Accounts on the nodes whose own files were read. */
  accounts: string[]
  /** Runs that only the tracking server knows: other accounts', or of nodes that did not answer. */
  fromRecords: number
  /** Why the tracking server was not asked; of several racks with the rack's name. */
  away: string | null
  /** Nodes that did not answer, with the reason. Of several racks a node is `rack/node`, and a rack may be one of them. */
  unasked: Record<string, string>
  /** Of racks that have them: what is limited, and what of it is used now. */
  quotas?: {rack: string; quotas: QuotaUse[]}[]
}

/**
 * The report about these racks. A machine that is a node of two of them told the same twice: that counts once. Pure.
 */
export function usageReport(racks: RackUsage[], by: UsageBy, since: number): UsageReport {
  const isOne = racks.length === 1
  const until = Math.max(...racks.map((one) => one.until))
  const entries = onlyOnce(racks.flatMap((one) => one.entries))
  const named = isOne ? entries : entries.map(withRack)
  const away = racks.flatMap(({rack, away: why}) =>
    why === null ? [] : [isOne || why.includes(`rack ${rack}`) ? why : `rack ${rack}: ${why}`],
  )
  const limited = racks.flatMap(({rack, quotas}) => (quotas ? [{rack, quotas}] : []))
  return {
    by,
    since,
    until,
    ...summarizeUsage(named, by, since, until),
    accounts: [...new Set(racks.flatMap((one) => one.accounts))].sort(),
    fromRecords: entries.filter((one) => one.source === 'record').length,
    away: away.length === 0 ? null : away.join('; '),
    ...(limited.length > 0 && {quotas: limited}),
    unasked: Object.fromEntries(
      racks.flatMap(({rack, unasked}) =>
        Object.entries(unasked).map(([node, why]) => [isOne ? node : `${rack}/${node}`, why]),
      ),
    ),
  }
}

/**
 * Attempts on nodes are known by their times: what racks tell alike is one, what one rack tells twice is two. What only a
 * tracking server knows is known by its run, unless a node told of that.
 */
function onlyOnce(entries: UsageEntry[]): UsageEntry[] {
  const onNodes = new Set(entries.flatMap((one) => (one.source === 'node' ? [one.run] : [])))
  const kept = new Map<string, UsageEntry>()
  const seen = new Map<string, number>()
  for (const one of entries) {
    if (one.source === 'record' && onNodes.has(one.run)) continue
    const {run, source, started, ended, cpu, open, rack} = one
    const what = source === 'record' ? run : [run, started, open ? '' : ended, open ? '' : cpu].join(' ')
    const times = (seen.get(`${rack} ${what}`) ?? 0) + 1
    seen.set(`${rack} ${what}`, times)
    const key = `${what} ${times}`
    if (!kept.has(key)) kept.set(key, one)
  }
  return [...kept.values()]
}

function withRack(entry: UsageEntry): UsageEntry {
  const full = (node: string): string => `${entry.rack}/${node}`
  return {...entry, node: entry.node === null ? null : full(entry.node), nodes: entry.nodes.map(full)}
}

/**
 * Rows, the most GPU hours first, then the most node hours; hours and days by time, in UTC. Time outside of `since` to `until`
 * does not count. Pure.
 */
export function summarizeUsage(
  entries: UsageEntry[],
  by: UsageBy,
  since: number,
  until: number,
): {rows: UsageRow[]; total: Omit<UsageRow, 'name'>} {
  const within = entries.filter((entry) => entry.ended >= since && entry.started <= until)
  if (by === 'hour' || by === 'day') {
    const whole = within.map((entry) => ({entry, share: 1}))
    return {rows: rowsByTime(whole, by, since, until), total: totalOf(whole, since, until)}
  }
  const parts = within.flatMap((entry) =>
    by === 'node' && entry.node === null
      ? entry.nodes.map((node) => ({entry, name: node, share: 1 / entry.nodes.length}))
      : [{entry, name: nameOf(entry, by), share: 1}],
  )
  const groups = Map.groupBy(parts, ({name}) => name)
  const rows = [...groups].map(([name, group]) => ({name, ...totalOf(group, since, until)}))
  rows.sort((a, b) => b.gpuHours - a.gpuHours || b.nodeHours - a.nodeHours || a.name.localeCompare(b.name))
  return {rows, total: totalOf([...groups.values()].flat(), since, until)}
}

/** An hour or a day without any run is none of the rows. */
function rowsByTime(
  parts: {entry: UsageEntry; share: number}[],
  by: 'day' | 'hour',
  since: number,
  until: number,
): UsageRow[] {
  const seconds = by === 'hour' ? 3600 : 86_400
  const slots = new Map<number, {entry: UsageEntry; share: number}[]>()
  for (const part of parts) {
    const last = Math.min(part.entry.ended, until)
    for (let slot = Math.floor(Math.max(part.entry.started, since) / seconds); slot * seconds < last; slot++) {
      const group = slots.get(slot) ?? []
      group.push(part)
      slots.set(slot, group)
    }
  }
  const name = (slot: number): string => {
    const text = new Date(slot * seconds * 1000).toISOString()
    return by === 'hour' ? `${text.slice(0, 10)} ${text.slice(11, 16)}Z` : text.slice(0, 10)
  }
  return [...slots]
    .toSorted(([a], [b]) => a - b)
    .map(([slot, group]) => ({
      name: name(slot),
      ...totalOf(group, Math.max(since, slot * seconds), Math.min(until, (slot + 1) * seconds)),
    }))
}

/** The same person at two machines is one user. */
function nameOf({user, project, node, rack}: UsageEntry, by: 'user' | 'project' | 'node' | 'rack'): string {
  if (by === 'user') return user.split('@')[0] as string
  return {project, node, rack}[by] ?? '-'
}

function totalOf(group: {entry: UsageEntry; share: number}[], since: number, until: number): Omit<UsageRow, 'name'> {
  const overlap = ({entry}: {entry: UsageEntry}): number =>
    Math.max(0, Math.min(entry.ended, until) - Math.max(entry.started, since))
  const hours = (pick: (one: {entry: UsageEntry; share: number}) => number): number =>
    group.reduce((sum, one) => sum + pick(one), 0) / 3600
  // What was measured over an attempt counts by the part of it that lies within.
  const measured = (name: 'cpu' | 'gpuSeen' | 'gpuBusy'): number | null =>
    group.every(({entry}) => entry[name] === null)
      ? null
      : hours(
          (one) =>
            (one.entry[name] ?? 0) * one.share * (overlap(one) / Math.max(1e-9, one.entry.ended - one.entry.started)),
        )
  return {
    runs: new Set(group.map(({entry}) => entry.run)).size,
    running: new Set(group.filter(({entry}) => entry.open).map(({entry}) => entry.run)).size,
    gpuHours: hours((one) => one.entry.gpus * one.share * overlap(one)),
    gpuSeenHours: measured('gpuSeen'),
    gpuBusyHours: measured('gpuBusy'),
    coreHours: measured('cpu'),
    nodeHours: hours((one) => (one.entry.node === null ? one.entry.nodes.length * one.share : 1) * overlap(one)),
  }
}

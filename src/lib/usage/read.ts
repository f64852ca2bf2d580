import {isCliError, type Context} from '../base/index.ts'
import type {QuotaUse} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import type {NodeUsage} from '../protocol/index.ts'
import {openRuns, type RunsPlace} from '../runs/index.ts'
import type {TrackedRun} from '../tracking/index.ts'
import type {UsageEntry} from './usage.ts'

export type UsagePlace = RunsPlace

/** Records that are read of the tracking server, newest first. */
const MOST_RECORDS = 5000

/** What one rack told. */
export interface RackUsage {
  rack: string
  /** What nodes keep, then what only the tracking server knows. */
  entries: UsageEntry[]
  /** The latest clock of its nodes, seconds since 1970. */
  until: number
  accounts: string[]
  away: string | null
  unasked: Record<string, string>
  /** What its head limits, and what of it is used now. */
  quotas?: QuotaUse[]
}

/**
 * What was used of a rack since then: from what every node keeps for the account that we are there, and of other
 * accounts' runs from the tracking server. Nodes and a tracking server that do not answer are told of; only if no node
 * answers it throws.
 */
export async function readUsage(place: UsagePlace, since: number, context: Context): Promise<RackUsage> {
  const rack = place.rack.name
  const runs = openRuns(place, context)
  try {
    const [answers, {tracked, away, quotas}] = await Promise.all([
      askNodes(place, since, context),
      askRecords(runs, context),
    ])
    const nodes = [...answers.values()].filter((one): one is NodeUsage => !(one instanceof Error))
    if (nodes.length === 0) throw [...answers.values()][0] as Error
    const until = Math.max(...nodes.map((one) => one.now))
    const own = nodes.flatMap(({entries}) =>
      entries.map(({status: _, gpu_seen: gpuSeen = null, gpu_busy: gpuBusy = null, ...entry}): UsageEntry => ({
        ...entry,
        rack,
        nodes: [entry.node],
        gpuSeen,
        gpuBusy,
        source: 'node',
      })),
    )
    const known = new Set(own.map((one) => one.run))
    const others = tracked
      .filter((one) => !known.has(one.tags['flexrack.run'] as string))
      .flatMap((one) => recordEntry(one, rack, until, since))
    return {
      rack,
      entries: [...own, ...others],
      until,
      accounts: [...new Set(nodes.map((one) => one.account))].sort(),
      away,
      ...(quotas.length > 0 && {quotas}),
      unasked: Object.fromEntries(
        [...answers].flatMap(([node, answer]) => (answer instanceof Error ? [[node, answer.message]] : [])),
      ),
    }
  } finally {
    await runs.close()
  }
}

async function askNodes(place: UsagePlace, since: number, context: Context): Promise<Map<string, NodeUsage | Error>> {
  const answers = await Promise.allSettled(
    place.rack.nodes.map(async (node) =>
      (await openHost(place.fleet, node, context)).call('usage.read', {since}, {signal: context.signal}),
    ),
  )
  return new Map(
    answers.map((answer, index) => [
      place.rack.nodes[index]?.name ?? '',
      answer.status === 'fulfilled' ? answer.value : (answer.reason as Error),
    ]),
  )
}

async function askRecords(
  runs: ReturnType<typeof openRuns>,
  context: Context,
): Promise<{tracked: TrackedRun[]; away: string | null; quotas: QuotaUse[]}> {
  const {tracking, away} = await runs.records()
  if (!tracking) return {tracked: [], away: away ?? null, quotas: []}
  const {head} = tracking
  const quotas = head?.quotas
    ? await head.request<{quotas: QuotaUse[]}>('GET', '/flexrack/v1/quotas').then(
        (answer) => answer.quotas,
        () => [], // of an older version, or away: then the tracking server says so
      )
    : []
  try {
    const experiments = (await tracking.mlflow.searchExperiments()).filter((one) => one.stage === 'active')
    if (experiments.length === 0) return {tracked: [], away: null, quotas}
    const found = await tracking.mlflow.searchRuns({
      experimentIds: experiments.map((one) => one.id),
      limit: MOST_RECORDS,
    })
    return {
      tracked: found.filter(
        (one) => one.tags['flexrack.run'] !== undefined && one.tags['flexrack.rack'] === runs.place.rack.name,
      ),
      away: null,
      quotas,
    }
  } catch (error) {
    if (!isCliError(error) || context.signal.aborted) throw error
    return {tracked: [], away: error.message, quotas}
  }
}

/**
 * A run of which no node that answers has kept anything. One that is open at the tracking server may have died long
 * ago: nobody knows, so it counts nothing.
 */
function recordEntry(record: TrackedRun, rack: string, until: number, since: number): UsageEntry[] {
  const ended = record.endTime === undefined ? undefined : record.endTime / 1000
  if (ended === undefined || ended < since || record.startTime / 1000 > until) return []
  const gpus = new Set(
    Object.keys(record.metrics).filter((name) => /^system\/.*gpu_\d+_utilization_percentage$/.test(name)),
  )
  const nodes = (record.tags['flexrack.nodes'] ?? '').split(',').filter((name) => name !== '')
  // System metrics are named by node and GPU: so many had the run on all of its nodes, and here they are counted a
  // node.
  return [
    {
      run: record.tags['flexrack.run'] as string,
      project: record.tags['flexrack.project'] ?? null,
      // who it is to the head that has users; the others are what any client writes
      user: record.tags['flexrack.user'] ?? record.tags['mlflow.user'] ?? record.user,
      rack,
      node: null,
      nodes,
      started: record.startTime / 1000,
      ended,
      gpus: gpus.size,
      cpu: null,
      gpuSeen: null,
      gpuBusy: null,
      open: false,
      source: 'record',
    },
  ]
}

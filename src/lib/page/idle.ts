import type {Context} from '../base/index.ts'
import type {PageHours, PageIdle} from '../head/index.ts'
import {idleGpus, readGpuUse} from '../overview/index.ts'
import {readUsage, usageReport, type UsageBy, type UsageRow} from '../usage/index.ts'
import type {PagePlace} from './answers.ts'

const DAY = 86_400
/** That are shown hour by hour. */
const HOURS_OF_DAYS = 2

/** What `gpu idle` tells, of the last `days`. Errors: those of readUsage and readGpuUse. */
export async function idleFacts(place: PagePlace, days: number, context: Context): Promise<PageIdle> {
  const since = Date.now() / 1000 - days * DAY
  const [use, usage] = await Promise.all([readGpuUse(place, context), readUsage(place, since, context)])
  const by = (what: UsageBy, from = since): ReturnType<typeof usageReport> => usageReport([usage], what, from)
  const users = by('user')
  const recent = Math.max(since, users.until - HOURS_OF_DAYS * DAY)
  return {
    idle: idleGpus(use, usage.entries).map(({since: from, name: _name, ...one}) => ({
      ...one,
      since: from === null ? null : from * 1000,
    })),
    since: since * 1000,
    until: users.until * 1000,
    users: hoursOf(users.rows),
    projects: hoursOf(by('project').rows),
    hours: hoursOf(by('hour', recent).rows),
    total: {name: 'all', ...shown(users.total)},
    unasked: [
      ...Object.entries(users.unasked).map(([node, why]) => `${node}: ${why}`),
      ...(users.away === null ? [] : [users.away]),
    ],
  }
}

function hoursOf(rows: UsageRow[]): PageHours[] {
  return rows.filter((one) => one.gpuHours > 0).map((one) => ({name: one.name, ...shown(one)}))
}

function shown({runs, gpuHours, gpuSeenHours, gpuBusyHours}: Omit<UsageRow, 'name'>): Omit<PageHours, 'name'> {
  return {runs, hours: gpuHours, seen: gpuSeenHours, busy: gpuBusyHours}
}

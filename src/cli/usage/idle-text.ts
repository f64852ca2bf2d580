import {count} from '../../lib/base/index.ts'
import {hours} from '../runs/figures-text.ts'
import {paint} from '../terminal/print.ts'
import {ago, table, type Column} from '../terminal/render.ts'
import type {IdleAnswer} from './idle.ts'
import {busyText, usageNotes} from './text.ts'

/** `gpu idle`: what does nothing now, then the hours. */
export function idleText({idle, usage}: IdleAnswer): string {
  const racks = new Set(idle.map((one) => one.rack))
  const columns: (string | Column)[] = [
    ...(racks.size > 1 ? ['rack'] : []),
    'node',
    {key: 'gpu', align: 'right'},
    {key: 'name', spare: true},
    'state',
    'owner',
    'holder',
    'since',
    {key: 'why', spare: true},
  ]
  const rows = idle.map((one) => ({
    rack: one.rack,
    node: one.node,
    gpu: one.index === null ? count(one.gpus, 'GPU') : String(one.index),
    name: one.name ?? '-',
    state: one.state === 'free' ? one.state : paint.yellow(one.state),
    owner: one.owner ?? '-',
    holder: one.holder ?? '-',
    since: one.since === null ? '-' : ago(one.since * 1000),
    why: paint.dim(one.why),
  }))
  const total = idle.reduce((sum, one) => sum + one.gpus, 0)
  return [
    rows.length === 0
      ? 'No GPU is idle that flexrack can see.'
      : `${paint.bold(`${count(total, 'GPU')} idle now`)}\n${table(rows, columns)}`,
    hoursText(usage),
  ].join('\n\n')
}

function hoursText(usage: IdleAnswer['usage']): string {
  const rows = usage.rows.filter((one) => one.gpuHours > 0)
  if (rows.length === 0) return ['No run had a GPU in that time.', ...usageNotes(usage)].join('\n')
  const right = (key: string, title: string): Column => ({key, title, align: 'right'})
  const shown = [...rows, ...(rows.length > 1 ? [{name: 'all', ...usage.total}] : [])].map((one) => ({
    name: one.name,
    gpu: hours(one.gpuHours),
    busy: busyText(one),
    idle: one.gpuSeenHours === null ? '-' : hours(one.gpuSeenHours - (one.gpuBusyHours ?? 0)),
    unknown: hours(Math.max(0, one.gpuHours - (one.gpuSeenHours ?? 0))),
  }))
  return [
    table(shown, [
      {key: 'name', title: usage.by.toUpperCase()},
      right('gpu', 'GPU HOURS'),
      right('busy', 'BUSY'),
      right('idle', 'IDLE HOURS'),
      right('unknown', 'NOT MEASURED'),
    ]),
    '',
    ...usageNotes(usage),
  ].join('\n')
}

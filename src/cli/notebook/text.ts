import type {Notebook} from '../../lib/notebook/index.ts'
import {ago, fields, table} from '../terminal/render.ts'

/** What `notebook start` answers. */
export function startedText(notebook: Notebook): string {
  return `${notebookText(notebook)}\n\nIt goes on without this command. Reach it from here with: flexrack notebook open`
}

export function notebooksText(all: Notebook[]): string {
  if (all.length === 0) return 'There is no notebook. Start one with: flexrack notebook start'
  return all.map(notebookText).join('\n\n')
}

function notebookText(one: Notebook): string {
  const facts = fields([
    ['notebook', `${one.project} on ${one.node}`],
    ['state', one.state],
    ['code', one.code],
    [
      'idle',
      one.idle === 0 ? 'nothing is ended for it' : `kernels that do nothing are ended after ${seconds(one.idle)}`,
    ],
    [
      'ends',
      one.endsAt === null
        ? one.state === 'ready' || one.state === 'starting'
          ? 'not by itself now'
          : undefined
        : `${clock(one.endsAt)}${one.endsWhy === null ? '' : `: ${one.endsWhy}`}`,
    ],
    [
      'ended',
      one.ended
        .slice(-5)
        .map(({what, why, at}) => `${clock(at)}  ${what}: ${why}`)
        .join('\n') || undefined,
    ],
  ])
  if (one.kernels.length === 0) return facts
  const rows = one.kernels.map(({notebook, kind, state, activeAt, endsAt}) => ({
    notebook: notebook ?? undefined,
    kernel: kind ?? undefined,
    state,
    active: ago(activeAt),
    ends: endsAt === null ? undefined : clock(endsAt),
  }))
  return `${facts}\n${table(rows, ['notebook', 'kernel', 'state', 'active', 'ends'])}`
}

function clock(at: string): string {
  const date = new Date(at)
  const [day, today] = [date, new Date()].map((one) => one.toDateString())
  const time = date.toTimeString().slice(0, 8)
  return day === today ? time : `${date.toISOString().slice(0, 10)} ${time}`
}

function seconds(count: number): string {
  if (count % 3600 === 0) return `${count / 3600} h`
  return count % 60 === 0 ? `${count / 60} min` : `${count} s`
}

import {stripVTControlCharacters} from 'node:util'
import {count} from '../../lib/base/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {paint} from './print.ts'

export interface Column {
  /** Key of the row. */
  key: string
  /** Heading; the key in capitals by default. */
  title?: string
  align?: 'left' | 'right'
  /** Left out where the screen is too narrow for all columns; the last such column goes first. */
  spare?: boolean
}

/**
 * Rows in columns two spaces apart, under headings in capitals. Missing cells are `-`. No rows: the empty string.
 * `width`: columns of the screen; without one, nothing is left out.
 */
export function table(
  rows: readonly Record<string, string | undefined>[],
  columns: readonly (string | Column)[],
  width = process.stdout.isTTY ? process.stdout.columns : Infinity,
): string {
  if (rows.length === 0) return ''
  const shown = columns.map((column) => (typeof column === 'string' ? {key: column} : column) as Column)
  const head = shown.map((column) => paint.dim(column.title ?? column.key.toUpperCase()))
  const body = rows.map((row) => shown.map((column) => row[column.key] || '-'))
  const widths = shown.map((_, index) => Math.max(...[head, ...body].map((cells) => visibleWidth(cells[index] ?? ''))))
  const spare = shown.findLastIndex((column) => column.spare)
  if (spare !== -1 && widths.reduce((sum, one) => sum + one + 2, -2) > width)
    return table(rows, shown.toSpliced(spare, 1), width)
  return [head, ...body]
    .map((cells) =>
      cells
        .map((cell, index) => pad(cell, widths[index] ?? 0, shown[index]?.align))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/**
 * `name:  value` lines with the values under each other; undefined values are left out, lines of a value are indented.
 */
export function fields(pairs: readonly (readonly [name: string, value: string | number | undefined])[]): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => visibleWidth(name))) + 1
  const indent = ' '.repeat(width + 1)
  return shown
    .map(([name, value]) => `${paint.dim(pad(`${name}:`, width))} ${String(value).replaceAll('\n', `\n${indent}`)}`)
    .join('\n')
}

/** Milliseconds for people: `85 ms`, `4.2 s`, `3 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return '-'
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`
  const seconds = milliseconds / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`
}

/**
 * How long ago: `now`, `12 s ago`, `3 min ago`, `5 h ago`, `2 d ago`. Takes a Date, ISO text or milliseconds since
 * 1970.
 */
export function ago(date: Date | string | number, now: number = Date.now()): string {
  const seconds = Math.floor((now - new Date(date).getTime()) / 1000)
  if (Number.isNaN(seconds)) return '-'
  if (seconds < 2) return 'now'
  if (seconds < 100) return `${seconds} s ago`
  if (seconds < 100 * 60) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86400)} d ago`
}

/** A minute as in tables, `2026-01-31 18:05`, in UTC: the heading says so. Milliseconds since 1970. */
export function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** What --dry-run prints: the steps in order, each with its node and what it waits for. */
export function planText(plan: Plan): string {
  if (plan.steps.length === 0) return `Nothing to do for ${plan.command}.`
  const rows = plan.steps.map((step, index) => ({
    step: String(index + 1),
    node: step.node ?? '(here)',
    what: step.title,
    after: step.needs
      .map((id) => plan.steps.findIndex((one) => one.id === id) + 1)
      .filter((at) => at > 0)
      .join(','),
  }))
  const columns: Column[] = [{key: 'step', title: '#', align: 'right'}, {key: 'after'}, {key: 'node'}, {key: 'what'}]
  const why = (plan.reasons ?? []).map(({node, taken, why}) => `${taken ? '+' : '-'} ${node}: ${why}\n`).join('')
  const all = `${table(rows, columns)}\n\n${why}${why === '' ? '' : '\n'}`
  return `${all}${count(plan.steps.length, 'step')}; nothing was changed (--dry-run).`
}

/** Columns a text takes on the screen: escape sequences take none. */
export function visibleWidth(text: string): number {
  return stripVTControlCharacters(text).length
}

/** The line as far as it fits; one that does not loses its colours. */
export function clip(line: string, width: number): string {
  return visibleWidth(line) <= width ? line : `${stripVTControlCharacters(line).slice(0, Math.max(1, width - 1))}…`
}

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - visibleWidth(text)))
  return align === 'right' ? space + text : text + space
}

/** A bar of `width` columns: what is in use as full blocks, what is only promised as light ones, the rest as dots. 0..1. */
export function bar(used: number, promised: number, width: number): string {
  const cells = (share: number): number =>
    Math.max(0, Math.min(width, share > 0 ? Math.max(1, Math.round(share * width)) : 0))
  const full = cells(used)
  const light = Math.max(0, cells(promised) - full)
  const colour = used > 0.9 ? paint.red : used > 0.6 ? paint.yellow : paint.green
  return `${colour('█'.repeat(full))}${paint.dim('▒'.repeat(light))}${paint.dim('·'.repeat(width - full - light))}`
}

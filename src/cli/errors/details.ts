import {relative} from 'node:path'
import type {Problem} from '../../lib/manifest/index.ts'
import {table} from '../terminal/render.ts'

interface NodeOutcome {
  node: string
  ok: boolean
  code?: string
  message?: string
}

/**
 * The lines people get to see of an error's details. `problems` (of a file), `nodes` (what became of each) and `lines`
 * (the last ones of a log) have a form of their own; other texts and numbers are shown as `name: value`, lists of texts
 * as lines, and nested data is left to --json. What `message` says already is not said again.
 */
export function detailLines(details: Record<string, unknown>, message: string): string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    if (name === 'nearest' || name === 'flag' || (name === 'file' && details.problems)) return [] // said elsewhere
    if (name === 'problems' && Array.isArray(value))
      return value.flatMap((one) => problemLines(one as Problem, message))
    if (name === 'nodes' && isListOf(value, 'node'))
      return (value as unknown as NodeOutcome[]).every(
        (one) => one.message !== undefined && message.includes(one.message),
      )
        ? []
        : nodeLines(value as unknown as NodeOutcome[])
    if (name === 'lines' && Array.isArray(value)) return value.map((line) => `| ${String(line)}`)
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'))
      return [`${name}: ${value.join(', ')}`]
    if (typeof value === 'string' && value !== '') return message.includes(value) ? [] : `${name}: ${value}`.split('\n')
    return typeof value === 'number' || typeof value === 'boolean' ? [`${name}: ${value}`] : []
  })
}

function problemLines(problem: Problem, message: string): string[] {
  const excerpt = problem.excerpt?.split('\n') ?? []
  if (message.includes(problem.message)) return excerpt
  const near = relative('', problem.file)
  const place = [near.startsWith('..') ? problem.file : near, problem.line, problem.column]
    .filter((part) => part !== undefined)
    .join(':')
  return [`${place}: ${problem.message}`, ...excerpt.map((line) => `  ${line}`)]
}

function nodeLines(nodes: NodeOutcome[]): string[] {
  const rows = nodes.map((one) => ({
    node: one.node,
    state: one.ok ? 'ok' : (one.code ?? 'failed'),
    message: one.message ?? '',
  }))
  return table(rows, ['node', 'state', 'message']).split('\n')
}

function isListOf(value: unknown, key: string): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && key in one)
}

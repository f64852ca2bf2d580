import {table} from './render.ts'

interface Problem {
  file?: string
  line?: number
  column?: number
  message: string
  expected?: string
  nearest?: string
}

interface NodeOutcome {
  node: string
  ok: boolean
  code?: string
  message?: string
}

/**
 * The lines people get to see of an error's details. `problems` (of a file), `nodes` (what became of each) and `lines`
 * (the last ones of a log) have a form of their own; other texts and numbers are shown as `name: value`, lists of texts
 * as lines, and nested data is left to --json.
 */
export function detailLines(details: Record<string, unknown>): string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    if (name === 'nearest') return [] // the hint says it
    if (name === 'problems' && Array.isArray(value)) return value.flatMap((one) => problemLines(one as Problem))
    if (name === 'nodes' && isListOf(value, 'node')) return nodeLines(value as unknown as NodeOutcome[])
    if (name === 'lines' && Array.isArray(value)) return value.map((line) => `| ${String(line)}`)
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) return [`${name}: ${value.join(', ')}`]
    if (typeof value === 'string' && value !== '') return `${name}: ${value}`.split('\n')
    return typeof value === 'number' || typeof value === 'boolean' ? [`${name}: ${value}`] : []
  })
}

function problemLines({file, line, column, message, expected, nearest}: Problem): string[] {
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  const more = [expected && `expected ${expected}`, nearest && `did you mean ${nearest}?`].filter(Boolean)
  return [`${place === '' ? '' : `${place}: `}${message}${more.length > 0 ? ` (${more.join('; ')})` : ''}`]
}

function nodeLines(nodes: NodeOutcome[]): string[] {
  const rows = nodes.map((one) => ({node: one.node, state: one.ok ? 'ok' : (one.code ?? 'failed'), message: one.message ?? ''}))
  return table(rows, ['node', 'state', 'message']).split('\n')
}

function isListOf(value: unknown, key: string): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && key in one)
}

import {isAlias, isMap, isScalar, isSeq, type Document, type Node, type Scalar} from 'yaml'
import {problemAt} from './problem.ts'
import type {Path, Problem, Span} from './types.ts'

/** Aliases may multiply a small file into gigabytes; no real file comes near these. */
const MAX_DEPTH = 32
const MAX_VALUES = 50_000

export type ConvertProblem = Problem & {fatal?: boolean}

/**
 * The plain value of a document. Unlike the library's toJS it bounds depth and size, keeps the text of numbers where
 * text is wanted, and reports duplicate and non-text keys with their place.
 */
export function convert(
  document: Document.Parsed,
  at: {file: string; text: string},
  asText: (path: Path) => boolean,
): {value: unknown; problems: ConvertProblem[]} {
  const problems: ConvertProblem[] = []
  let values = 0

  function visit(node: Node | null | undefined, path: Path): unknown {
    if (!node) return null
    if (++values > MAX_VALUES) return stop(node, `more than ${MAX_VALUES} values; are there aliases of aliases?`)
    if (path.length > MAX_DEPTH) return stop(node, 'nested too deeply')
    if (isAlias(node)) {
      const target = node.resolve(document)
      return target ? visit(target, path) : stop(node, `the anchor &${node.source} is not there`)
    }
    if (isScalar(node)) return scalarValue(node, asText(path))
    if (isSeq(node)) return node.items.map((item, index) => visit(item as Node, [...path, index]))
    if (isMap(node)) return visitMap(node.items as {key: unknown; value: unknown}[], path)
    return null
  }

  function visitMap(items: {key: unknown; value: unknown}[], path: Path): Record<string, unknown> {
    const entries = new Map<string, unknown>()
    for (const {key, value} of items) {
      const name = keyName(key)
      if (name === undefined) {
        problem(key, 'a key must be plain text')
        continue
      }
      if (entries.has(name)) problem(key, `the key "${name}" is given twice`)
      else entries.set(name, visit(value as Node, [...path, name]))
    }
    // fromEntries defines own properties, so that even `__proto__` is only a name.
    return Object.fromEntries(entries)
  }

  function stop(node: Node, message: string): undefined {
    if (!problems.some((known) => known.fatal)) problems.push({...problemAt(at, rangeOf(node), message), fatal: true})
    return undefined
  }

  function problem(node: unknown, message: string): void {
    if (problems.length < 50) problems.push(problemAt(at, rangeOf(node), message))
  }

  return {value: visit(document.contents as Node | null, []), problems}
}

/** Text of a key, or undefined if it is not a scalar. */
export function keyName(key: unknown): string | undefined {
  if (!isScalar(key) || key.value === null || key.value === undefined) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

/** Start and end of a node in the text, without trailing space and comments. */
export function rangeOf(node: unknown): Span {
  const range = (node as {range?: [number, number, number] | null} | null)?.range
  return range ? [range[0], range[1]] : [0, 0]
}

function scalarValue(node: Scalar, text: boolean): unknown {
  const {value} = node
  if (text && (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'))
    return node.source ?? String(value)
  return value
}

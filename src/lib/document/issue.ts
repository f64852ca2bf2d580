import type {core} from 'zod'
import {nearestName} from '../base/index.ts'
import type {JsonSchema} from './schema.ts'
import type {Path} from './types.ts'
import type {NotYet} from './validate.ts'

export interface Described {
  path: Path
  what: 'key' | 'value'
  message: string
  expected?: string
  nearest?: string
}

/** Unions are replaced by the issues of the branch that was meant: the one that got furthest, or took the type. */
export function flattenIssues(issues: readonly core.$ZodIssue[], base: Path = []): core.$ZodIssue[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path]
    if (issue.code === 'invalid_union') {
      const meant =
        issue.errors.find((branch) => branch.some((inner) => inner.path.length > 0)) ??
        issue.errors.find((branch) =>
          branch.every((inner) => inner.code !== 'invalid_type' && inner.code !== 'invalid_value'),
        )
      if (meant) return flattenIssues(meant, path)
    }
    return [{...issue, path}]
  })
}

/** What an issue means in words, and where it is to be shown. */
export function describeIssue(
  issue: core.$ZodIssue,
  root: unknown,
  schemaAt: (path: Path) => JsonSchema | undefined,
  notYet: NotYet,
): Described[] {
  const path = issue.path
  const label = labelOf(path)
  const value = valueAt(root, path)
  switch (issue.code) {
    case 'unrecognized_keys': {
      return issue.keys.map((key) => unknownKey(path, key, Object.keys(schemaAt(path)?.properties ?? {}), notYet))
    }
    case 'invalid_value': {
      if (value === undefined) return [missing(path, schemaAt(path))]
      return [invalidValue(path, value, issue.values.map(String), notYet)]
    }
    case 'invalid_key': {
      return [
        {
          path,
          what: 'key',
          message: `the name "${String(path.at(-1))}" ${issue.issues[0]?.message ?? 'is not allowed'}`,
        },
      ]
    }
    case 'invalid_type':
    case 'invalid_union': {
      if (value === undefined) return [missing(path, schemaAt(path))]
      const expected = kindOf(schemaAt(path))
      return [{path, what: 'value', message: `${label} must be ${expected}, not ${found(value)}`, expected}]
    }
    case 'too_small':
    case 'too_big': {
      const expected = rangeOf(schemaAt(path)) ?? issue.message
      return [{path, what: 'value', message: `${label} must be ${expected}, not ${found(value)}`, expected}]
    }
    default: {
      // Our own checks: their messages continue the sentence `<key> ...`.
      return [
        {
          path,
          what: 'value',
          message: `${label} ${issue.message}`,
          ...(issue.code === 'invalid_format' && {expected: issue.message}),
        },
      ]
    }
  }
}

function unknownKey(path: Path, key: string, allowed: string[], notYet: NotYet): Described {
  const dotted = [...path, key].map(String).join('.')
  const later = Object.hasOwn(notYet, dotted) ? notYet[dotted] : undefined
  const expected = allowed.length > 0 ? `one of ${allowed.join(', ')}` : undefined
  const at = {path: [...path, key], what: 'key' as const, ...(expected && {expected})}
  if (later !== undefined)
    return {...at, message: `"${dotted}" is not supported by this version of flexrack${later && `: ${later}`}`}
  const nearest = nearestName(key, allowed)
  const where = path.length > 0 ? ` in ${labelOf(path)}` : ''
  return {
    ...at,
    message: `unknown key "${key}"${where}; ${nearest ? `did you mean "${nearest}"?` : `expected ${expected}`}`,
    ...(nearest && {nearest}),
  }
}

function invalidValue(path: Path, value: unknown, allowed: string[], notYet: NotYet): Described {
  const later = notYet[`${path.map(String).join('.')}=${String(value)}`]
  const expected = `one of ${allowed.join(', ')}`
  if (later !== undefined)
    return {
      path,
      what: 'value',
      message: `${labelOf(path)}: ${String(value)} is not supported by this version of flexrack${later && `: ${later}`}`,
      expected,
    }
  const nearest = typeof value === 'string' ? nearestName(value, allowed) : undefined
  const hint = nearest ? `; did you mean "${nearest}"?` : ''
  return {
    path,
    what: 'value',
    message: `${labelOf(path)} must be ${expected}, not ${found(value)}${hint}`,
    expected,
    ...(nearest && {nearest}),
  }
}

function missing(path: Path, schema: JsonSchema | undefined): Described {
  const parent = path.slice(0, -1)
  const expected = kindOf(schema)
  const where = parent.length > 0 ? ` in ${labelOf(parent)}` : ''
  return {
    path: parent,
    what: 'key',
    message: `the key "${String(path.at(-1))}" is missing${where}; expected ${expected}`,
    expected,
  }
}

/** `endpoints.digits.replicas`, `train.outputs[0]`. */
function labelOf(path: Path): string {
  if (path.length === 0) return 'the file'
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('')
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<PropertyKey, unknown>)[part]
  }
  return value
}

/** What a schema takes, in words. */
export function kindOf(schema: JsonSchema | undefined): string {
  if (!schema) return 'something else'
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  if (schema.anyOf) return schema.anyOf.map(kindOf).join(' or ')
  const types = Array.isArray(schema.type) ? ['string'] : [schema.type]
  const [type] = types
  if (type === 'integer' || type === 'number')
    return rangeOf(schema) ?? (type === 'integer' ? 'a whole number' : 'a number')
  if (type === 'array') return `a list${schema.items ? ` of ${plural(kindOf(schema.items))}` : ''}`
  if (type === 'object') return 'keys and values'
  if (type === 'boolean') return 'true or false'
  return 'text'
}

function plural(kind: string): string {
  return kind.replace(/^a whole number/, 'whole numbers').replace(/^an? (.*)/, '$1s')
}

function rangeOf(schema: JsonSchema | undefined): string | undefined {
  if (!schema) return undefined
  const {minimum, maximum} = schema
  if (schema.type === 'integer' || schema.type === 'number') {
    const noun = schema.type === 'integer' ? 'a whole number' : 'a number'
    const bounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
    if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER)
      return bounded ? `${noun} from ${minimum} to ${maximum}` : `${noun}, at least ${minimum}`
    return bounded ? `${noun}, at most ${maximum}` : undefined
  }
  if (schema.type !== 'array')
    return schema.maxLength === undefined
      ? 'text that is not empty'
      : `text of ${schema.minLength ?? 0} to ${schema.maxLength} characters`
  return schema.maxItems === undefined ? undefined : `a list of at most ${schema.maxItems}`
}

function found(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'keys and values'
  if (typeof value === 'string')
    return value === '' ? 'empty text' : `the text "${value.length > 60 ? `${value.slice(0, 60)}…` : value}"`
  return String(value)
}

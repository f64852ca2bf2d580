import {CliError} from './error.ts'
import {SCHEMAS} from './file-schemas.ts'

/** A kind of file that outlives who wrote it (`files` in protocol/). */
export type StoredKind = keyof typeof SCHEMAS

type Value = Record<string, unknown>

/** A file without a number is of the time before files had any; its shape is the first. */
const FIRST = 1

/**
 * By kind: the number that a conversion leads to, in the order of the numbers. node/flexrack_node/base/stored.py has
 * those of files that nodes read.
 */
const CONVERSIONS: Partial<Record<StoredKind, [to: number, convert: (value: Value) => Value][]>> = {
  // The tokens were the whole file, by their ids.
  'head.tokens': [[2, (tokens) => ({tokens})]],
  'run.event': [[2, (value) => (value.event === 'deposed' ? {...value, event: 'stepped down'} : value)]],
}

/** The value as it is written: with the number of its shape. */
export function stamped<T extends object>(kind: StoredKind, value: T): T & {schema: number} {
  return {schema: SCHEMAS[kind], ...value}
}

/** What was read of a file in today's shape, without the number. Throws NEWER_VERSION. */
export function current<T>(kind: StoredKind, read: unknown, file: string): T {
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return read as T
  const {schema = FIRST, ...value} = read as Value
  if (typeof schema !== 'number' || schema > SCHEMAS[kind]) {
    throw new CliError(
      'NEWER_VERSION',
      `${file} was written by a newer flexrack (schema ${String(schema)} of ${String(kind)}; this one knows up to ${SCHEMAS[kind]})`,
      {
        hint: 'upgrade flexrack here to the version that wrote it',
        details: {path: file, schema},
      },
    )
  }
  return (CONVERSIONS[kind] ?? []).reduce<Value>(
    (found, [to, convert]) => (schema < to ? convert(found) : found),
    value,
  ) as T
}

/** For what can be made again: whether it is there, in today's shape. */
export function isCurrent(kind: StoredKind, read: unknown): boolean {
  return typeof read === 'object' && read !== null && (read as Value).schema === SCHEMAS[kind]
}

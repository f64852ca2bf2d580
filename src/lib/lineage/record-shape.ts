type Shape = 'string' | 'number' | 'time' | {list: Shape} | {orNull: Shape} | {maybe: Shape} | {texts: true} | Fields
interface Fields {
  fields: Record<string, Shape>
}

const list = (one: Shape): Shape => ({list: one})
const orNull = (one: Shape): Shape => ({orNull: one})
const maybe = (one: Shape): Shape => ({maybe: one})
const fields = (of: Record<string, Shape>): Shape => ({fields: of})

/** Seconds; more are no date. */
const LAST_TIME = 1e11

/** What of a record is read here: protocol/record.json has all of it. */
const RECORD = fields({
  run: 'string',
  project: 'string',
  user: 'string',
  status: 'string',
  started: 'time',
  ended: orNull('time'),
  processes: 'number',
  launcher: 'string',
  command: list('string'),
  env: list('string'),
  seeds: {texts: true},
  nodes: list(fields({node: 'string', code: orNull('string'), driver: orNull('string')})),
  data: list(fields({name: 'string', digest: 'string'})),
  inputs: list(fields({name: 'string', from: 'string'})),
  outputs: list(fields({path: 'string', sha256: 'string'})),
  attempts: list(fields({nodes: list('string'), checkpoint: orNull('string')})),
  image: orNull('string'),
  tracked: orNull('string'),
  origin: orNull(
    fields({
      version: 'string',
      machine: 'string',
      parents: maybe(list(fields({kind: 'string', name: 'string', digest: maybe('string')}))),
    }),
  ),
  code: orNull(
    fields({
      digest: 'string',
      files: 'number',
      commit: orNull('string'),
      pack: orNull(fields({sha256: 'string'})),
      left_out: list(list('string')),
    }),
  ),
  environment: orNull(fields({hash: 'string', python: orNull('string'), lock: 'string', packages: 'number'})),
})

/** The first part of a record that is not as it has to be: a run may have written it itself. Undefined: none. Pure. */
export function misshapen(record: unknown): string | undefined {
  return wrongIn(record, RECORD, 'record')
}

function wrongIn(value: unknown, shape: Shape, at: string): string | undefined {
  if (shape === 'time') return typeof value === 'number' && value >= 0 && value < LAST_TIME ? undefined : at
  if (typeof shape === 'string') return typeof value === shape ? undefined : at
  if ('orNull' in shape) return value === null ? undefined : wrongIn(value, shape.orNull, at)
  if ('maybe' in shape) return value === undefined ? undefined : wrongIn(value, shape.maybe, at)
  if ('list' in shape) {
    if (!Array.isArray(value)) return at
    return first(value.map((one, index) => () => wrongIn(one, shape.list, `${at}[${index}]`)))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return at
  const parts =
    'fields' in shape ? shape.fields : Object.fromEntries(Object.keys(value).map((name) => [name, 'string']))
  return first(
    Object.entries(parts).map(
      ([name, one]) =>
        () =>
          wrongIn((value as Record<string, unknown>)[name], one as Shape, `${at}.${name}`),
    ),
  )
}

function first(looks: (() => string | undefined)[]): string | undefined {
  for (const look of looks) {
    const found = look()
    if (found !== undefined) return found
  }
  return undefined
}

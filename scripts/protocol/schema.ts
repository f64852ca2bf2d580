import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'

/**
 * What the files in protocol/ use of JSON Schema 2020-12. Everything else is refused, so that both languages say the
 * same as the schema.
 */
export interface Schema {
  description?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  $ref?: string
  /** Alternatives. */
  anyOf?: Schema[]
  /** Objects whose properties this one has, too: references alone. */
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema | false
  prefixItems?: Schema[]
  [other: string]: unknown
}

/**
 * What a verb takes and says. `events`: the lines before its result. `errors`: codes of its own, beside those that
 * every verb may give.
 */
export interface Verb {
  description: string
  input: Schema
  result: Schema
  events?: Schema
  errors?: string[]
}

/**
 * A kind of file that outlives its writer. `schema`: the number that today's shape has; a file without one has the
 * first. `lines`: each line is one.
 */
export interface FileKind {
  path: string
  schema: number
  content: Schema
  lines?: boolean
}

export interface Topic {
  $id: string
  description: string
  /** What nodes say to each other alone: the command line has no types of it. */
  among?: 'nodes'
  $defs: Record<string, Schema>
  verbs?: Record<string, Verb>
  files?: Record<string, FileKind>
  /**
   * Files that stay and have no number, by their paths: why. `*` is a part of a name, `**` any names, words in capitals
   * stand for names.
   */
  unnumbered?: Record<string, string>
}

const KEYWORDS = new Set([
  'description',
  'type',
  'const',
  'enum',
  '$ref',
  'anyOf',
  'allOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'pattern',
  'minLength',
  'maxLength',
  'default',
])

/**
 * Every topic by its name, in the order of the names. Throws for a keyword that is not ours, a name that two topics
 * have, a reference to nothing, topics in a circle.
 */
export function readTopics(folder: string): Map<string, Topic> {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
  const topics = new Map(
    names.map((name) => [
      name.slice(0, -'.json'.length),
      JSON.parse(readFileSync(join(folder, name), 'utf8')) as Topic,
    ]),
  )
  const owners = new Map<string, string>()
  for (const [name, topic] of topics) {
    if (topic.$id !== `${name}.json`) throw new Error(`protocol/${name}.json: $id is ${topic.$id}`)
    for (const def of Object.keys(topic.$defs)) {
      const other = owners.get(def)
      if (other) throw new Error(`protocol/${name}.json: ${def} is a name of ${other}, too`)
      owners.set(def, name)
    }
    for (const [verb, {input, result, events}] of Object.entries(topic.verbs ?? {})) {
      for (const schema of [input, result, events]) if (schema) check(schema, `${name}.json: ${verb}`, name, topics)
    }
    for (const [kind, {schema, content}] of Object.entries(topic.files ?? {})) {
      if (!Number.isInteger(schema) || schema < 1) throw new Error(`protocol/${name}.json: ${kind} has no number`)
      const other = owners.get(kind)
      if (other) throw new Error(`protocol/${name}.json: ${kind} is a kind of ${other}, too`)
      owners.set(kind, name)
      check(content, `${name}.json: ${kind}`, name, topics)
    }
    for (const [def, schema] of Object.entries(topic.$defs)) check(schema, `${name}.json: ${def}`, name, topics)
  }
  for (const name of topics.keys()) withoutCircle(name, [], topics)
  return topics
}

/** Python's modules could not import each other. */
function withoutCircle(name: string, on: string[], topics: ReadonlyMap<string, Topic>): void {
  if (on.includes(name)) throw new Error(`protocol/: ${[...on.slice(on.indexOf(name)), name].join(' refers to ')}`)
  for (const next of neighbours(name, topics.get(name) as Topic).keys()) withoutCircle(next, [...on, name], topics)
}

/** The topic and the name that a reference means. */
export function target(ref: string, topic: string): {topic: string; name: string} {
  const parts = /^(?:([a-z_]+)\.json)?#\/\$defs\/(\w+)$/.exec(ref)
  if (!parts) throw new Error(`${topic}.json: ${ref} is no reference to a definition`)
  return {topic: parts[1] ?? topic, name: parts[2] as string}
}

/** Every schema in a schema, itself first. */
export function* within(schema: Schema): Generator<Schema> {
  yield schema
  const {anyOf = [], allOf = [], prefixItems = [], properties = {}, items, additionalProperties} = schema
  for (const one of [...anyOf, ...allOf, ...prefixItems, ...Object.values(properties)]) yield* within(one)
  for (const one of [items, additionalProperties]) if (typeof one === 'object') yield* within(one)
}

/** Topics whose definitions a topic refers to. */
export function neighbours(name: string, topic: Topic): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const verbs = Object.values(topic.verbs ?? {}).flatMap(({input, result, events}) => [
    input,
    result,
    ...(events ? [events] : []),
  ])
  for (const schema of [...Object.values(topic.$defs), ...verbs].flatMap((one) => [...within(one)])) {
    if (schema.$ref === undefined) continue
    const to = target(schema.$ref, name)
    if (to.topic !== name) found.set(to.topic, (found.get(to.topic) ?? new Set()).add(to.name))
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function check(schema: Schema, where: string, name: string, topics: ReadonlyMap<string, Topic>): void {
  for (const one of within(schema)) {
    const unknown = Object.keys(one).find((key) => !KEYWORDS.has(key))
    if (unknown) throw new Error(`protocol/${where}: ${unknown} is no keyword that the generator knows`)
    const lacking = (one.required ?? []).find((key) => !one.properties || !(key in one.properties))
    if (lacking !== undefined) throw new Error(`protocol/${where}: ${lacking} is required and no property`)
    if (one.$ref !== undefined) {
      const to = target(one.$ref, name)
      if (!topics.get(to.topic)?.$defs[to.name]) throw new Error(`protocol/${where}: ${one.$ref} is not there`)
    }
  }
}

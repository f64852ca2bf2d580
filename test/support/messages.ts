import {join, resolve} from 'node:path'
import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js'
import {readTopics, target, type Schema, type Topic} from '../../scripts/protocol/schema.ts'

/** Errors of the call itself, whatever the verb is. */
const ALWAYS = ['BUG', 'USAGE', 'NODE_UNFIT', 'INTERRUPTED', 'NEWER_VERSION']

/**
 * Holds messages against protocol/. Strict: a field that the protocol does not name is a finding, though every reader
 * passes it over.
 */
export class Messages {
  readonly #topics = readTopics(join(resolve(import.meta.dirname, '../..'), 'protocol'))
  readonly #ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    strictTuples: false,
    strictTypes: false,
    strictRequired: false,
  })
  readonly #verbs = new Map<string, {topic: string; errors: string[]}>()

  constructor() {
    for (const keyword of ['verbs', 'files']) this.#ajv.addKeyword(keyword)
    for (const [name, topic] of this.#topics) {
      this.#ajv.addSchema(strict(topic, name, this.#topics))
      for (const [verb, {errors = []}] of Object.entries(topic.verbs ?? {}))
        this.#verbs.set(verb, {topic: name, errors})
    }
  }

  /** Throws where the value is not what the verb takes, says or answers. */
  check(verb: string, part: 'input' | 'result' | 'events', value: unknown): void {
    const known = this.#verbs.get(verb)
    if (!known) return
    const pointer =
      part === 'events' ? this.#eventPointer(known.topic, verb, value) : `${known.topic}.json#/verbs/${verb}/${part}`
    if (pointer === undefined)
      throw new Error(
        `${verb} says ${JSON.stringify(value)}, and protocol/${known.topic}.json knows no such event of it`,
      )
    this.#validate(pointer, `${verb}: ${part}`, value)
  }

  /**
   * Of the events of a verb the one that has this name, so that what is wrong with it is told and not what it has less
   * than the others.
   */
  #eventPointer(topic: string, verb: string, value: unknown): string | undefined {
    const events = this.#topics.get(topic)?.verbs?.[verb]?.events
    const places = (events?.anyOf ?? (events ? [events] : [])).map((one) => target(one.$ref as string, topic))
    const found = places.find(
      (one) =>
        this.#topics.get(one.topic)?.$defs[one.name]?.properties?.event?.const === (value as {event?: unknown}).event,
    )
    return found && `${found.topic}.json#/$defs/${found.name}`
  }

  /** Throws where the value is not what protocol/ says of a definition: `run.json#/$defs/NodeRun`. */
  checkAs(pointer: string, value: unknown): void {
    this.#validate(pointer, pointer, value)
  }

  checkError(verb: string, error: unknown): void {
    const known = this.#verbs.get(verb)
    const code = (error as {code?: unknown} | null)?.code
    if (known && ![...ALWAYS, ...known.errors].includes(String(code)))
      throw new Error(`${verb} fails with ${String(code)}, which protocol/${known.topic}.json does not name`)
  }

  #validate(pointer: string, what: string, value: unknown): void {
    const validate = this.#ajv.getSchema(pointer) as ValidateFunction | undefined
    if (!validate) throw new Error(`protocol/${pointer} is not there`)
    // As it travels: what is undefined is not there.
    const sent = value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown)
    if (validate(sent)) return
    const errors = (validate.errors ?? [])
      .slice(0, 5)
      .map((one) => `${one.instancePath || '/'} ${one.message ?? ''} ${JSON.stringify(one.params)}`)
    throw new Error(
      `${what} is not as protocol/ says:\n  ${errors.join('\n  ')}\n  ${JSON.stringify(sent).slice(0, 600)}`,
    )
  }
}

let known: Messages | undefined

/** Read once a process: to compile the schemas takes longer than many a test. */
export function knownMessages(): Messages {
  return (known ??= new Messages())
}

/** Nothing but what is named; allOf is resolved, because each part of it would refuse the others' fields. */
function strict(topic: Topic, name: string, topics: ReadonlyMap<string, Topic>): object {
  return JSON.parse(JSON.stringify(topic), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('type' in value) || (value as Schema).type !== 'object')
      return value
    const {allOf, ...schema} = value as Schema
    const whole = [...(allOf ?? []).map((one) => fields(one.$ref as string, name, topics)), schema].reduce<Schema>(
      (sum, one) => ({
        ...sum,
        ...one,
        required: [...(sum.required ?? []), ...(one.required ?? [])],
        properties: {...sum.properties, ...one.properties},
      }),
      {},
    )
    return {...whole, additionalProperties: schema.additionalProperties ?? false}
  }) as object
}

/** What an object has, with the fields that it has from others. References in it are made whole. */
function fields(ref: string, from: string, topics: ReadonlyMap<string, Topic>): Schema {
  const {topic, name} = target(ref, from)
  const schema = JSON.parse(JSON.stringify(topics.get(topic)?.$defs[name]), (key, value: unknown) =>
    key === '$ref' && String(value).startsWith('#') ? `${topic}.json${String(value)}` : value,
  ) as Schema
  const bases = (schema.allOf ?? []).map((one) => fields(one.$ref as string, topic, topics))
  return [...bases, schema].reduce<Schema>(
    (sum, one) => ({
      required: [...(sum.required ?? []), ...(one.required ?? [])],
      properties: {...sum.properties, ...one.properties},
    }),
    {},
  )
}

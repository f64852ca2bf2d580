import {z, type ZodType} from 'zod'
import type {Path} from './types.ts'

/** The part of JSON Schema that our schemas use. */
export interface JsonSchema {
  type?: string | string[]
  description?: string
  title?: string
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  propertyNames?: JsonSchema
  anyOf?: JsonSchema[]
}

const made = new WeakMap<ZodType, JsonSchema>()

/**
 * JSON Schema (draft 2020-12) of what may be written in a file: defaults are optional, texts may be unquoted numbers
 * where that is harmless.
 */
export function jsonSchemaOf(schema: ZodType): JsonSchema {
  let json = made.get(schema)
  if (!json) {
    json = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({jsonSchema}) => {
        // Values that readSource takes as written: editors must not complain about `THREADS: 4`.
        if (jsonSchema.written === 'as-is') jsonSchema.type = ['string', 'number', 'boolean']
        delete jsonSchema.written
      },
    }) as JsonSchema
    made.set(schema, json)
  }
  return json
}

/** The JSON Schema of the value at a path, or undefined where the path leaves it. */
export function schemaAt(schema: ZodType, path: Path): JsonSchema | undefined {
  let json: JsonSchema | undefined = jsonSchemaOf(schema)
  for (const part of path) {
    if (!json) return undefined
    json =
      json.properties?.[String(part)] ??
      branches(json)
        .map((branch) => step(branch, part))
        .find((next) => next !== undefined)
  }
  return json
}

function branches(json: JsonSchema): JsonSchema[] {
  return json.anyOf ? json.anyOf : [json]
}

function step(json: JsonSchema, part: PropertyKey): JsonSchema | undefined {
  if (typeof part === 'number') return json.items
  const own = Object.hasOwn(json.properties ?? {}, String(part)) ? json.properties?.[String(part)] : undefined
  return own ?? (typeof json.additionalProperties === 'object' ? json.additionalProperties : undefined)
}

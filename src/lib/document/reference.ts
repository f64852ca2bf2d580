import type {ZodType} from 'zod'
import {kindOf} from './issue.ts'
import {jsonSchemaOf, type JsonSchema} from './schema.ts'

export interface Reference {
  /** The page of docs/. */
  markdown: string
  /** The file of schema/, for editors. */
  jsonSchema: JsonSchema & {$id: string}
}

/**
 * The page and the JSON Schema of a file kind. `intro` is Markdown with the heading, `top` heads the table of the top
 * level.
 */
export function makeReference(schema: ZodType, {intro, top, id}: {intro: string; top: string; id: string}): Reference {
  const json = jsonSchemaOf(schema)
  const markdown = [intro.trim(), ...sections(json, '', top)].join('\n\n') + '\n'
  return {markdown, jsonSchema: {$id: id, ...json}}
}

function sections(json: JsonSchema, path: string, heading: string): string[] {
  const properties = Object.entries(json.properties ?? {})
  const rows = properties.map(
    ([key, value]) =>
      `| \`${key}\` | ${cell(kind(value))} | ${cell(byDefault(key, value, json))} | ${cell(describe(value))} |`,
  )
  const table = [
    `## ${heading}`,
    ...(path !== '' && json.description ? ['', json.description] : []),
    '',
    '| key | value | default | meaning |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
  return [table, ...properties.flatMap(([key, value]) => inner(value, path === '' ? key : `${path}.${key}`))]
}

/**
 * The section of a key that holds keys: an object, the items of a list, or the values under names of the user's own.
 */
function inner(value: JsonSchema, path: string): string[] {
  if (value.properties) return sections(value, path, `\`${path}\``)
  if (value.items?.properties) return sections(value.items, path, `\`${path}\`: each item`)
  const short = keyed(value)
  if (short) return sections(short, path, `\`${path}\` in full`)
  const named = isMap(value)
    ? value.additionalProperties.properties
      ? value.additionalProperties
      : keyed(value.additionalProperties)
    : undefined
  return named ? sections(named, `${path}.NAME`, `\`${path}.NAME\``) : []
}

function kind(value: JsonSchema): string {
  if (value.properties) return 'keys, see below'
  if (value.items?.properties) return 'list, see below'
  if (isMap(value)) return mapKind(value.additionalProperties)
  return kindOf(value)
}

function mapKind(value: JsonSchema): string {
  if (value.properties) return 'names, each with keys, see below'
  return keyed(value) ? `names, each with ${kindOf(value)}, see below` : 'names and texts'
}

/** Of what may be written in several ways: the one with keys, if one alone has them. */
function keyed(value: JsonSchema): JsonSchema | undefined {
  const found = (value.anyOf ?? []).filter((one) => one.properties)
  return found.length === 1 ? found[0] : undefined
}

function byDefault(key: string, value: JsonSchema, parent: JsonSchema): string {
  if (parent.required?.includes(key)) return '**needed**'
  if (value.properties || value.default === undefined) return ''
  const text = JSON.stringify(value.default)
  return text === '[]' || text === '{}' ? 'none' : `\`${typeof value.default === 'string' ? value.default : text}\``
}

function describe(value: JsonSchema): string {
  const examples = (value.examples ?? []).map(
    (example) => `\`${typeof example === 'string' ? example : yamlFlow(example)}\``,
  )
  return `${value.description ?? ''}${examples.length > 0 ? ` Example: ${examples.join(' or ')}.` : ''}`
}

/** `[model.onnx, checkpoints/]`: short values as they would be written. */
function yamlFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlFlow).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, one]) => `${key}: ${yamlFlow(one)}`)
      .join(', ')}}`
  return typeof value === 'string' && !/^[A-Za-z][A-Za-z0-9._/-]*$/.test(value) ? JSON.stringify(value) : String(value)
}

function isMap(value: JsonSchema): value is JsonSchema & {additionalProperties: JsonSchema} {
  return typeof value.additionalProperties === 'object'
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

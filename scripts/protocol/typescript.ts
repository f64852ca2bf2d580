import {neighbours, target, type Schema, type Topic, type Verb} from './schema.ts'

/** src/lib/protocol/NAME.ts: the types of a topic, and its verbs. */
export function typescriptOf(name: string, topic: Topic): string {
  const imports = [...neighbours(name, topic)].map(
    ([from, names]) => `import type {${[...names].sort().join(', ')}} from './${from}.ts'\n`,
  )
  const definitions = Object.entries(topic.$defs).map(
    ([def, schema]) => `${comment(schema.description, '')}${definition(def, schema, name)}`,
  )
  return `// ${topic.description} Generated from protocol/${name}.json by \`npm run protocol\`.\n${imports.join('')}\n${[...definitions, ...verbsOf(name, topic)].join('\n')}`
}

/** src/lib/protocol/index.ts: all types, and every verb by its name. */
export function typescriptIndex(topics: ReadonlyMap<string, Topic>): string {
  const withVerbs = [...topics].filter(([, topic]) => topic.verbs).map(([name]) => name)
  return [
    '// Generated from protocol/ by `npm run protocol`.\n',
    ...withVerbs.map((name) => `import type {${verbsName(name)}} from './${name}.ts'\n`),
    '\n',
    ...[...topics].filter(([, {among}]) => among !== 'nodes').map(([name]) => `export type * from './${name}.ts'\n`),
    '\n/** Every verb of the node program: what it takes, what it answers, what it says before. */\n',
    `export interface Verbs extends ${withVerbs.map(verbsName).join(', ')} {}\n`,
  ].join('')
}

function definition(name: string, schema: Schema, topic: string): string {
  if (
    schema.properties === undefined ||
    schema.anyOf ||
    (schema.additionalProperties !== undefined && schema.additionalProperties !== false)
  )
    return `export type ${name} = ${type(schema, topic, '')}\n`
  const bases = (schema.allOf ?? []).map((one) => type(one, topic, ''))
  return `export interface ${name} ${bases.length > 0 ? `extends ${bases.join(', ')} ` : ''}${members(schema, topic, '')}\n`
}

function verbsOf(name: string, {verbs}: Topic): string[] {
  if (!verbs) return []
  const line = ([verb, {description, input, result, events}]: [string, Verb]): string =>
    `${comment(description, '  ')}  '${verb}': {input: ${type(input, name, '  ')}; result: ${type(result, name, '  ')}; event: ${events ? type(events, name, '  ') : 'never'}}\n`
  return [`export interface ${verbsName(name)} {\n${Object.entries(verbs).map(line).join('')}}\n`]
}

function verbsName(topic: string): string {
  return `${topic.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())}Verbs`
}

function type(schema: Schema, topic: string, indent: string): string {
  if (schema.$ref !== undefined) return target(schema.$ref, topic).name
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => type(one, topic, indent)))].join(' | ')
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  if (Array.isArray(schema.type))
    return [...new Set(schema.type.map((one) => type({...schema, type: one}, topic, indent)))].join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return array(schema, topic, indent)
    case 'object':
      return object(schema, topic, indent)
    default:
      return 'unknown'
  }
}

function array({prefixItems, items, minItems}: Schema, topic: string, indent: string): string {
  if (prefixItems) {
    const least = typeof minItems === 'number' ? minItems : 0
    const parts = prefixItems.map((one, index) => `${type(one, topic, indent)}${index < least ? '' : '?'}`)
    return `[${[...parts, ...(items ? [`...${group(type(items, topic, indent))}[]`] : [])].join(', ')}]`
  }
  return `${group(items ? type(items, topic, indent) : 'unknown')}[]`
}

function object(schema: Schema, topic: string, indent: string): string {
  const {properties, additionalProperties: more, allOf = []} = schema
  const parts = allOf.map((one) => type(one, topic, indent))
  if (properties) parts.push(members(schema, topic, indent))
  if (more !== undefined && more !== false)
    parts.push(`Record<string, ${more === true ? 'unknown' : type(more, topic, indent)}>`)
  return parts.length > 0 ? parts.join(' & ') : 'Record<string, unknown>'
}

function members({properties = {}, required = []}: Schema, topic: string, indent: string): string {
  const inner = `${indent}  `
  const line = ([key, schema]: [string, Schema]): string =>
    `${comment(schema.description, inner)}${inner}${/^\w+$/.test(key) ? key : `'${key}'`}${required.includes(key) ? '' : '?'}: ${type(schema, topic, inner)}\n`
  return `{\n${Object.entries(properties).map(line).join('')}${indent}}`
}

function group(text: string): string {
  return /[|&]/.test(text.replace(/\{[^]*\}|'[^']*'/g, '')) || (text.includes(' | ') && !text.startsWith('{'))
    ? `(${text})`
    : text
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`
}

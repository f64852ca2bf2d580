import {neighbours, target, within, type Schema, type Topic} from './schema.ts'

const KEYWORDS = new Set([
  'False',
  'None',
  'True',
  'and',
  'as',
  'assert',
  'async',
  'await',
  'break',
  'class',
  'continue',
  'def',
  'del',
  'elif',
  'else',
  'except',
  'finally',
  'for',
  'from',
  'global',
  'if',
  'import',
  'in',
  'is',
  'lambda',
  'nonlocal',
  'not',
  'or',
  'pass',
  'raise',
  'return',
  'try',
  'while',
  'with',
  'yield',
])
const TYPING = ['Any', 'Dict', 'List', 'Literal', 'Optional', 'TypedDict', 'Union']

/**
 * node/flexrack_node/schema/NAME.py: the same types as TypedDicts, for Python 3.9. An object within another one gets a
 * name of its own.
 */
export function pythonOf(name: string, topic: Topic): string {
  const writer = new Writer(name)
  // A base, and what an alias stands for, come before what names them.
  const done = new Set<string>()
  const define = (def: string): void => {
    const schema = topic.$defs[def]
    if (!schema || done.has(def)) return
    done.add(def)
    for (const {$ref} of within(schema))
      if ($ref !== undefined && target($ref, name).topic === name) define(target($ref, name).name)
    writer.define(def, schema)
  }
  for (const def of Object.keys(topic.$defs)) define(def)
  const body = writer.text
  const typing = TYPING.filter((word) => new RegExp(`\\b${word}\\b`).test(body))
  const imports = [...neighbours(name, topic)]
    .map(([from, names]) => [from, [...names].filter((one) => new RegExp(`\\b${one}\\b`).test(body)).sort()] as const)
    .filter(([, names]) => names.length > 0)
    .map(([from, names]) => `from flexrack_node.schema.${from} import ${names.join(', ')}\n`)
  return [
    `"""${topic.description} Generated from protocol/${name}.json by \`npm run protocol\`; for type checkers alone."""\n`,
    typing.length > 0 ? `from typing import ${typing.join(', ')}\n` : '',
    imports.length > 0 ? `\n${imports.join('')}` : '',
    body,
  ].join('')
}

class Writer {
  text = ''
  readonly #topic: string

  constructor(topic: string) {
    this.#topic = topic
  }

  define(name: string, schema: Schema): void {
    const {properties, anyOf, additionalProperties: more} = schema
    if (properties && !anyOf && (more === undefined || more === false)) this.#object(name, schema)
    else {
      const value = this.#type(schema, name)
      this.text += `\n${name} = ${value}\n`
    }
  }

  /** Required and optional keys are two classes: NotRequired came after Python 3.9. */
  #object(name: string, {properties = {}, required = [], allOf = [], description}: Schema): void {
    const bases = allOf.map((one) => this.#type(one, name))
    const keys = Object.entries(properties).map(
      ([key, schema]) => [key, this.#type(schema, `${name}${pascal(key)}`), required.includes(key)] as const,
    )
    const must = keys.filter(([, , isRequired]) => isRequired)
    const may = keys.filter(([, , isRequired]) => !isRequired)
    if (keys.some(([key]) => !/^[A-Za-z_]\w*$/.test(key) || KEYWORDS.has(key))) {
      this.text += this.#functional(name, bases, must, may)
      return
    }
    const doc = description ? `    """${description}"""\n` : ''
    const lines = (list: typeof keys): string => list.map(([key, value]) => `    ${key}: ${value}\n`).join('')
    if (may.length === 0) {
      this.text += `\n\nclass ${name}(${bases.length > 0 ? bases.join(', ') : 'TypedDict'}):\n${doc}${lines(must)}${must.length === 0 && !doc ? '    pass\n' : ''}`
      return
    }
    const parents = must.length > 0 ? [`_${name}`] : bases
    if (must.length > 0)
      this.text += `\n\nclass _${name}(${bases.length > 0 ? bases.join(', ') : 'TypedDict'}):\n${lines(must)}`
    this.text += `\n\nclass ${name}(${parents.length > 0 ? parents.join(', ') : 'TypedDict'}, total=False):\n${doc}${lines(may)}`
  }

  /** For keys that are words of Python. */
  #functional(
    name: string,
    bases: string[],
    must: readonly (readonly [string, string, boolean])[],
    may: readonly (readonly [string, string, boolean])[],
  ): string {
    if (bases.length > 0) throw new Error(`${name}: a key that is a word of Python, and allOf`)
    const dict = (list: typeof must): string =>
      `{${list.map(([key, value]) => `"${key}": "${value.replaceAll('"', "'")}"`).join(', ')}}`
    if (must.length === 0 || may.length === 0)
      return `\n\n${name} = TypedDict("${name}", ${dict([...must, ...may])}${may.length > 0 ? ', total=False' : ''})\n`
    return `\n\n_${name} = TypedDict("_${name}", ${dict(must)})\n_${name}May = TypedDict("_${name}May", ${dict(may)}, total=False)\n\n\nclass ${name}(_${name}, _${name}May):\n    pass\n`
  }

  #type(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return target(schema.$ref, this.#topic).name
    if (schema.anyOf)
      return union(
        schema.anyOf.map((one, index) =>
          this.#type(one, schema.anyOf?.length === 2 && isNull(schema.anyOf[1 - index]) ? name : `${name}${index + 1}`),
        ),
      )
    if (schema.const !== undefined) return literals([schema.const])
    if (schema.enum) return literals(schema.enum)
    if (Array.isArray(schema.type)) return union(schema.type.map((one) => this.#type({...schema, type: one}, name)))
    switch (schema.type) {
      case 'string':
        return 'str'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'array':
        return this.#array(schema, name)
      case 'object':
        return this.#inner(schema, name)
      default:
        return 'Any'
    }
  }

  /** What JSON gives for a tuple is a list. */
  #array({prefixItems, items}: Schema, name: string): string {
    const parts = [...(prefixItems ?? []), ...(items ? [items] : [])].map((one) => this.#type(one, name))
    return `List[${parts.length > 0 ? union(parts) : 'Any'}]`
  }

  #inner(schema: Schema, name: string): string {
    const {properties, additionalProperties: more} = schema
    if (properties && more !== undefined && more !== false) return 'Dict[str, Any]'
    if (properties) {
      this.#object(name, schema)
      return name
    }
    return `Dict[str, ${typeof more === 'object' ? this.#type(more, name) : 'Any'}]`
  }
}

function isNull(schema: Schema | undefined): boolean {
  return schema?.type === 'null'
}

function union(parts: string[]): string {
  const some = [...new Set(parts)].filter((one) => one !== 'None')
  if (some.includes('Any')) return 'Any'
  const all = some.length > 1 ? `Union[${some.join(', ')}]` : (some[0] ?? 'None')
  return parts.includes('None') && some.length > 0 ? `Optional[${all}]` : all
}

function literals(values: unknown[]): string {
  const isNullable = values.includes(null)
  const text = `Literal[${values
    .filter((one) => one !== null)
    .map((one) => (typeof one === 'boolean' ? (one ? 'True' : 'False') : JSON.stringify(one)))
    .join(', ')}]`
  return isNullable ? `Optional[${text}]` : text
}

function pascal(key: string): string {
  return key.replace(/(^|[^A-Za-z0-9])([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase()).replace(/\W/g, '')
}

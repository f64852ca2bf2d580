// How the specification's names and types read in C++.
import {SCALARS} from './scalars.ts'
import type {Field, Message, Spec} from './spec.ts'

/** The first lines of every generated file. */
export function banner(spec: Spec, what: string): string {
  return `// ${what}\n// Generated from native/spec/${spec.api}.* by native/codegen/generate.ts; change those.\n`
}

/** create_buffer -> CreateBuffer */
export function camel(name: string): string {
  return name.replace(/(^|_)(\w)/g, (_all, _bar, letter: string) => letter.toUpperCase())
}

/**
 * The namespace of an API's messages. Not its own name: the client's and the backend's code live in namespaces of that
 * name.
 */
export function space(spec: Spec): string {
  return {opencl: 'cl', cuda: 'cu'}[spec.api] ?? `${spec.api}_wire`
}

export function hex(op: number): string {
  return `0x${op.toString(16)}`
}

/** The C++ type of a field: views into the body for everything that has no structure of its own. */
export function cppType(field: Field): string {
  const scalar = SCALARS[field.type]?.cpp
  if (scalar) return field.isArray ? `std::span<const ${scalar}>` : scalar
  const single = {string: 'std::string_view', bytes: 'wire::View', payload: 'wire::Payload'}[field.type] ?? field.type
  return field.isArray ? `std::vector<${single}>` : single
}

export function initial(field: Field): string {
  return SCALARS[field.type] && !field.isArray ? ' = 0' : '{}'
}

/** The scalar that all fields of a struct are, if they are all one: such a struct is written and read whole. */
export function uniform(spec: Spec, type: string): string | undefined {
  const struct = spec.structs.find(({name}) => name === type)
  const first = struct?.fields[0]?.type ?? ''
  return SCALARS[first] && struct?.fields.every((field) => !field.isArray && field.type === first) ? first : undefined
}

/** The fewest bytes an element can take on the wire, padding aside. */
export function smallest(spec: Spec, field: Field): number {
  if (field.isArray) return 8
  const struct = spec.structs.find(({name}) => name === field.type)
  if (struct) return struct.fields.reduce((sum, part) => sum + smallest(spec, part), 0)
  return SCALARS[field.type]?.size ?? (field.type === 'payload' ? 24 : 8)
}

/** Everything with a body of its own: requests, replies, notices. */
export function bodies(spec: Spec): {name: string; fields: Field[]; message: Message; isReply: boolean}[] {
  return spec.messages.flatMap((message) => [
    ...(message.reply ? [{name: `${camel(message.name)}Reply`, fields: message.reply, message, isReply: true}] : []),
    {name: camel(message.name), fields: message.fields, message, isReply: false},
  ])
}

// Reads a specification: NAME.api (messages), and where there are such, NAME.constants and NAME.functions beside it.
//
// OpenCL's functions are written by hand on top of generated messages: its objects carry too much state for less. An API whose functions are mostly
// plain forwards (CUDA's driver API) can have them generated from the same lines, with the signature saying what goes where:
//   fn cuMemsetD8Async 3.2 forward memset
//     CUresult (in handle dstDevice, in u8 uc, in u64 N, in stream hStream)
// `in`, `out`, `inout` before a parameter, `T[n]` for arrays whose length is the parameter n, and a class of handle (stream, module, ...) that
// says which table translates it. Of these the generator can make the message, the client's stub (send or call by whether anything is `out`), the
// server's call of the native function and the fuzz case. A function without directions stays hand-written, as all of OpenCL's are.
import {existsSync, readFileSync} from 'node:fs'
import {type Declaration, type Fail, readDeclaration, readInside} from './declarations.ts'

export interface Field {
  name: string
  /** A scalar, string, bytes, payload, or the name of a struct. */
  type: string
  isArray: boolean
}

export interface Struct {
  name: string
  fields: Field[]
}

export interface Message {
  kind: 'call' | 'send' | 'notice'
  name: string
  op: number
  fields: Field[]
  /** Of a call. */
  reply?: Field[]
}

export interface Parameter {
  type: string
  name: string
}

export interface ApiFunction {
  name: string
  since: string
  /** CUDA: that there is a second symbol for the thread's own default stream, by its suffix, and since when. */
  perThread?: {suffix: string; since: string}
  how: 'forward' | 'local' | 'refuse'
  messages: string[]
  reason: string
  /** Undefined: a null entry. */
  returns?: string
  parameters: Parameter[]
  isInTable: boolean
}

export interface Constant {
  type: string
  name: string
  value: string
}

export interface Spec {
  api: string
  firstOp: number
  structs: Struct[]
  messages: Message[]
  declarations: Declaration[]
  constants: Constant[]
  functions: ApiFunction[]
  /** Names that are asked for and that there are not. */
  absent: {name: string; reason: string}[]
}

export function emptySpec(): Spec {
  return {api: '', firstOp: 0, structs: [], messages: [], declarations: [], constants: [], functions: [], absent: []}
}

/** What a field of a scalar type is in C++. */
export const SCALARS: Record<string, {cpp: string; size: number}> = {
  u8: {cpp: 'std::uint8_t', size: 1},
  u16: {cpp: 'std::uint16_t', size: 2},
  u32: {cpp: 'std::uint32_t', size: 4},
  u64: {cpp: 'std::uint64_t', size: 8},
  i32: {cpp: 'std::int32_t', size: 4},
  i64: {cpp: 'std::int64_t', size: 8},
  f64: {cpp: 'double', size: 8},
  handle: {cpp: 'std::uint64_t', size: 8},
}

const BUILT_IN = new Set([...Object.keys(SCALARS), 'string', 'bytes', 'payload'])

/** Reads `base`.api, and `base`.constants and `base`.functions where they are. Throws with file and line on what it cannot read. */
export function readSpec(base: string): Spec {
  const spec = emptySpec()
  for (const [path, needed] of [[`${base}.api`, true], [`${base}.constants`, false], [`${base}.functions`, false]] as const) {
    if (needed || existsSync(path)) parse(readFileSync(path, 'utf8'), path, spec)
  }
  check(spec)
  return spec
}

/** Adds the declarations of one file to `spec`. */
export function parse(text: string, path: string, spec: Spec): void {
  let isInTable = true
  let inside: ((line: string, fail: Fail) => void) | undefined
  for (const [index, raw] of text.split('\n').entries()) {
    const fail = (why: string): never => {
      throw new Error(`${path}:${index + 1}: ${why}: ${raw.trim()}`)
    }
    const line = raw.replace(/(^|\s)#.*$/, '').trimEnd()
    if (line.trim() === '') continue
    if (line.startsWith(' ') && inside) {
      inside(line, fail)
      continue
    }
    inside = undefined
    const [word = '', rest = ''] = split(line)
    const declared = readDeclaration(word, rest, fail)
    if (word === 'table') isInTable = true
    else if (word === 'extensions') isInTable = false
    else if (word === 'fn') {
      const one = functionLine(rest, isInTable, fail)
      spec.functions.push(one)
      inside = (more, why) => signature(more.trim(), one, why)
    } else if (declared) {
      spec.declarations.push(declared)
      inside = (more, why) => readInside(more, declared, why)
    } else other(word, rest, spec, fail)
  }
}

function other(word: string, rest: string, spec: Spec, fail: Fail): void {
  const [name = '', more = ''] = split(rest)
  if (word === 'api') Object.assign(spec, {api: name, firstOp: Number(more)})
  else if (word === 'struct') spec.structs.push({name, fields: fields(more, fail)})
  else if (word === 'call' || word === 'send' || word === 'notice') spec.messages.push(message(word, rest, fail))
  else if (word === 'absent') spec.absent.push({name, reason: /^"(.+)"$/.exec(more)?.[1] ?? fail('why is it absent')})
  else if (word === 'const') {
    const [constant = '', value = ''] = split(more)
    spec.constants.push({type: name, name: constant, value})
  } else fail('not a declaration')
}

function message(kind: Message['kind'], text: string, fail: Fail): Message {
  const match = /^(\w+) (0x[0-9a-f]+) (\{.*?\})(?: -> (\{.*\}))?$/.exec(text) ?? fail('a message is NAME OP { fields } with -> { fields } for a call')
  const [, name = '', op = '', own = '', reply] = match
  if ((kind === 'call') !== (reply !== undefined)) fail('a call, and only a call, has a reply')
  return {kind, name, op: Number(op), fields: fields(own, fail), ...(reply ? {reply: fields(reply, fail)} : {})}
}

function fields(text: string, fail: Fail): Field[] {
  const inner = /^\{(.*)\}$/.exec(text.trim())?.[1] ?? fail('fields are in braces')
  return inner.trim() === '' ? [] : inner.trim().split(/\s{2,}/).map((part) => {
    const [, name = '', type = '', array] = /^(\w+): (\w+)(\[\])?$/.exec(part) ?? fail('a field is name: type, two spaces between fields')
    return {name, type, isArray: array !== undefined}
  })
}

function functionLine(text: string, isInTable: boolean, fail: Fail): ApiFunction {
  const match = /^(\w+) (\d+\.\d)(?: (pt[sd][sz]) (\d+\.\d))? (forward|local|refuse)((?: \w+)*)(?: "(.*)")?$/.exec(text) ?? fail('a function is NAME SINCE forward|local|refuse MESSAGES "REASON"')
  const [, name = '', since = '', suffix, own = '', how = '', messages = '', reason = ''] = match
  if (how !== 'forward' && reason === '') fail('why is it not forwarded')
  const perThread = suffix === undefined ? {} : {perThread: {suffix, since: own}}
  return {name, since, ...perThread, how: how as ApiFunction['how'], messages: messages.split(' ').filter(Boolean), reason, parameters: [], isInTable}
}

function signature(text: string, of: ApiFunction, fail: Fail): void {
  if (of.returns !== undefined) fail(`${of.name} has its signature`)
  const [, returns = '', list = ''] = /^(\w+\*?) \((.*)\)$/.exec(text) ?? fail('a signature is TYPE (parameters)')
  of.returns = returns
  of.parameters = list === '' ? [] : list.split(', ').map((parameter) => {
    const [, type = '', name = ''] = /^(.*[ *])(\w+)$/.exec(parameter) ?? fail('a parameter is a type and a name')
    return {type: type.trim(), name}
  })
}

function check(spec: Spec): void {
  const known = new Set([...BUILT_IN, ...spec.structs.map(({name}) => name)])
  const all = [...spec.structs.flatMap((one) => one.fields), ...spec.messages.flatMap((one) => [...one.fields, ...(one.reply ?? [])])]
  for (const field of all) if (!known.has(field.type)) throw new Error(`${spec.api}: ${field.name} is of no known type: ${field.type}`)
  const messages = new Set(spec.messages.map(({name}) => name))
  for (const one of spec.functions) for (const used of one.messages) if (!messages.has(used)) throw new Error(`${one.name}: no message ${used}`)
}

function split(text: string): string[] {
  const [, first = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? []
  return [first, rest]
}

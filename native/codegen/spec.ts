// Reads a specification: NAME.api (messages), and where there are such, NAME.constants and NAME.functions beside it.
//
// OpenCL's functions are written by hand on top of generated messages: its objects carry too much state for less. Of
// CUDA's, those that are plain forwards are generated from the same lines (plain.ts): the signature says what goes
// where, as the head of cuda.functions explains.
import {existsSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {bodies} from './cpp.ts'
import {type Declaration, type Fail, readDeclaration, readInside} from './declarations.ts'
import {addPlainMessages} from './plain.ts'
import {SCALARS} from './scalars.ts'

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
  /** Of a plain forward: what becomes of what a pointer points to. */
  direction?: 'in' | 'out' | 'new' | 'gone'
  /** The pointer may be null. */
  isOptional?: boolean
  /** The parameter that says how many there are. */
  count?: string
}

export interface ApiFunction {
  name: string
  since: string
  /** CUDA: that there is a second symbol for the thread's own default stream, by its suffix, and since when. */
  perThread?: {suffix: string; since: string}
  how: 'forward' | 'local' | 'refuse'
  messages: string[]
  reason: string
  /** A plain forward: its message is made from its signature. */
  plain?: {kind: 'send' | 'call'; op: number}
  /** NCCL: it is one of `collectives`, by this number. */
  collective?: number
  /** Does what this other function does. */
  same?: string
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
  /** The API whose messages the functions name, where it has none of its own. */
  messagesOf?: string
  /** Names that are asked for and that there are not. */
  absent: {name: string; reason: string}[]
}

export function emptySpec(): Spec {
  return {api: '', firstOp: 0, structs: [], messages: [], declarations: [], constants: [], functions: [], absent: []}
}

const BUILT_IN = new Set([...Object.keys(SCALARS), 'string', 'bytes', 'payload'])

/**
 * Reads `base`.api, and `base`.constants and `base`.functions where they are. Throws with file and line on what it
 * cannot read.
 */
export function readSpec(base: string): Spec {
  const spec = emptySpec()
  for (const [path, needed] of [
    [`${base}.api`, true],
    [`${base}.constants`, false],
    [`${base}.functions`, false],
  ] as const) {
    if (needed || existsSync(path)) parse(readFileSync(path, 'utf8'), path, spec)
  }
  addPlainMessages(spec)
  for (const one of spec.functions) follow(one, spec)
  check(spec, spec.messagesOf === undefined ? spec : readSpec(join(dirname(base), spec.messagesOf)))
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
  else if (word === 'messages') spec.messagesOf = name
  else if (word === 'struct') spec.structs.push({name, fields: fields(more, fail)})
  else if (word === 'call' || word === 'send' || word === 'notice') spec.messages.push(message(word, rest, fail))
  else if (word === 'absent') spec.absent.push({name, reason: /^"(.+)"$/.exec(more)?.[1] ?? fail('why is it absent')})
  else if (word === 'const') {
    const [constant = '', value = ''] = split(more)
    spec.constants.push({type: name, name: constant, value})
  } else fail('not a declaration')
}

function message(kind: Message['kind'], text: string, fail: Fail): Message {
  const match =
    /^(\w+) (0x[0-9a-f]+) (\{.*?\})(?: -> (\{.*\}))?$/.exec(text) ??
    fail('a message is NAME OP { fields } with -> { fields } for a call')
  const [, name = '', op = '', own = '', reply] = match
  if ((kind === 'call') !== (reply !== undefined)) fail('a call, and only a call, has a reply')
  return {kind, name, op: Number(op), fields: fields(own, fail), ...(reply ? {reply: fields(reply, fail)} : {})}
}

function fields(text: string, fail: Fail): Field[] {
  const inner = /^\{(.*)\}$/.exec(text.trim())?.[1] ?? fail('fields are in braces')
  return inner.trim() === ''
    ? []
    : inner
        .trim()
        .split(/\s{2,}/)
        .map((part) => {
          const [, name = '', type = '', array] =
            /^(\w+): (\w+)(\[\])?$/.exec(part) ?? fail('a field is name: type, two spaces between fields')
          return {name, type, isArray: array !== undefined}
        })
}

function functionLine(text: string, isInTable: boolean, fail: Fail): ApiFunction {
  const head =
    /^(\w+) (\d+\.\d+)(?: (pt[sd][sz]) (\d+\.\d))? (.*)$/.exec(text) ??
    fail('a function is NAME SINCE and what becomes of it')
  const [, name = '', since = '', suffix, own = '', fate = ''] = head
  const perThread = suffix === undefined ? {} : {perThread: {suffix, since: own}}
  return {name, since, ...perThread, ...fateOf(fate, fail), parameters: [], isInTable}
}

type Fate = Pick<ApiFunction, 'how' | 'messages' | 'reason' | 'plain' | 'collective' | 'same'>

function fateOf(text: string, fail: Fail): Fate {
  const [, number] = /^collective (\d+)$/.exec(text) ?? []
  if (number) return {how: 'forward', messages: ['collectives'], reason: '', collective: Number(number)}
  const [, kind, op] = /^(send|call) (0x[0-9a-f]+)$/.exec(text) ?? []
  if (kind) return {how: 'forward', messages: [], reason: '', plain: {kind: kind as 'send' | 'call', op: Number(op)}}
  const [, same] = /^same (\w+)$/.exec(text) ?? []
  if (same) return {how: 'forward', messages: [], reason: `as \`${same}\``, same}
  const [, how = '', messages = '', reason = ''] =
    /^(forward|local|refuse)((?: \w+)*)(?: "(.*)")?$/.exec(text) ??
    fail('a function is NAME SINCE forward|local|refuse MESSAGES "REASON"')
  if (how !== 'forward' && reason === '') fail('why is it not forwarded')
  return {how: how as ApiFunction['how'], messages: messages.split(' ').filter(Boolean), reason}
}

/** The fate of a function that does what another does. */
function follow(one: ApiFunction, spec: Spec): void {
  if (one.same === undefined) return
  const other = spec.functions.find(({name}) => name === one.same)
  const types = (of: ApiFunction): string => of.parameters.map(({type}) => type).join()
  if (!other || other.same !== undefined || types(other) !== types(one))
    throw new Error(`${one.name}: cannot be the same as ${one.same}`)
  one.how = other.how
  one.messages = other.messages
}

function signature(text: string, of: ApiFunction, fail: Fail): void {
  if (of.returns !== undefined) fail(`${of.name} has its signature`)
  const [, returns = '', list = ''] = /^(\w[\w ]*\*?) \((.*)\)$/.exec(text) ?? fail('a signature is TYPE (parameters)')
  of.returns = returns
  of.parameters =
    list === ''
      ? []
      : list.split(', ').map((parameter) => {
          const match =
            /^(?:(in|out|new|gone)(\??) )?(.*[ *])(\w+)(?:\[(\w+)\])?$/.exec(parameter) ??
            fail('a parameter is a type and a name')
          const [, direction, optional, type = '', name = '', count] = match
          const more = direction ? {direction: direction as Parameter['direction'], isOptional: optional === '?'} : {}
          return {type: type.trim(), name, ...more, ...(count === undefined ? {} : {count})}
        })
}

function check(spec: Spec, {messages: named}: Spec): void {
  const known = new Set([...BUILT_IN, ...spec.structs.map(({name}) => name)])
  const all = [
    ...spec.structs.flatMap((one) => one.fields),
    ...spec.messages.flatMap((one) => [...one.fields, ...(one.reply ?? [])]),
  ]
  for (const field of all)
    if (!known.has(field.type)) throw new Error(`${spec.api}: ${field.name} is of no known type: ${field.type}`)
  const messages = new Set(named.map(({name}) => name))
  for (const {name} of spec.structs)
    if (bodies(spec).some((body) => body.name === name))
      throw new Error(`${spec.api}: ${name} is a struct and a message`)
  if (messages.size < named.length) throw new Error(`${spec.api}: two messages of one name`)
  for (const one of spec.functions)
    for (const used of one.messages) if (!messages.has(used)) throw new Error(`${one.name}: no message ${used}`)
}

function split(text: string): string[] {
  const [, first = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? []
  return [first, rest]
}

// Plain forwards: functions whose message, stub and server's call come from their signature.
import {every, type Member} from './declarations.ts'
import {SCALARS} from './scalars.ts'
import type {ApiFunction, Field, Message, Parameter, Spec} from './spec.ts'

export interface Travel {
  parameter: Parameter
  /** Its C type without pointer and const. */
  type: string
  /** How it travels. flat: a struct without pointers, as its bytes. count: not at all, the array it counts does. */
  as: 'number' | 'address' | 'handle' | 'device' | 'flat' | 'text' | 'count'
  isArray: boolean
  field: Field
}

/** Handles that are no pointers to a struct. */
const NUMBERED = new Set(['CUmemGenericAllocationHandle'])
const NUMBERS: Record<string, string> = {
  int: 'i32',
  'unsigned int': 'u32',
  'unsigned char': 'u32',
  'unsigned short': 'u32',
  size_t: 'u64',
  'unsigned long long': 'u64',
  'std::uint32_t': 'u32',
  'std::uint64_t': 'u64',
  float: 'f64',
  double: 'f64',
}

/** Adds the messages of all plain forwards. */
export function addPlainMessages(spec: Spec): void {
  for (const one of spec.functions) {
    if (!one.plain) continue
    const {kind, op} = one.plain
    const all = travels(spec, one)
    const into = all
      .filter(({parameter, as}) => parameter.direction !== 'out' && as !== 'count')
      .map(({field}) => field)
    const out = all.filter(({parameter}) => parameter.direction === 'out').map(({field}) => field)
    if (kind === 'send' && out.length > 0) throw new Error(`${one.name}: a send that wants an answer`)
    const message: Message = {
      kind,
      name: messageName(one),
      op,
      fields: [{name: 'context', type: 'handle', isArray: false}, ...into],
    }
    if (kind === 'call') message.reply = [{name: 'status', type: 'i32', isArray: false}, ...out]
    spec.messages.push(message)
    one.messages = [message.name]
  }
}

/** cuStreamWaitEvent -> stream_wait_event */
export function messageName(one: ApiFunction): string {
  return snake(one.name.replace(/^cu/, '').replace(/_v\d+$/, ''))
}

/** All parameters in order. */
export function travels(spec: Spec, one: ApiFunction): Travel[] {
  const counts = new Set(one.parameters.map(({count}) => count))
  return one.parameters.map((parameter) => {
    const type =
      parameter.direction && parameter.direction !== 'gone'
        ? parameter.type.replace(/\*$/, '').replace(/^const /, '')
        : parameter.type
    const isArray = parameter.count !== undefined
    const kind = kindOf(spec, type)
    if (kind === undefined) throw new Error(`${one.name}: ${parameter.name} cannot travel as it stands`)
    const [as, wire] = counts.has(parameter.name) ? (['count', ''] as const) : kind
    const field: Field = {
      name: snake(parameter.name.replace(/^(ph|h|p)(?=[A-Z])/, '')),
      type: wire,
      isArray: isArray && as !== 'flat',
    }
    return {parameter, type, as, isArray, field}
  })
}

function kindOf(spec: Spec, type: string): readonly [Travel['as'], string] | undefined {
  if (type === 'CUdevice') return ['device', 'u32']
  if (type === 'CUdeviceptr') return ['address', 'u64']
  if (type === 'const char*') return ['text', 'string']
  if (NUMBERED.has(type) || every(spec.declarations, 'opaque').some(({name}) => name === type))
    return ['handle', 'handle']
  const alias = every(spec.declarations, 'type').find(({name}) => name === type)
  if (alias) return kindOf(spec, alias.of)
  const numbers = every(spec.declarations, 'enum').find(({name}) => name === type)
  if (numbers) return ['number', numbers.isSigned ? 'i32' : 'u32']
  if (isFlat(spec, type)) return ['flat', 'bytes']
  const number = NUMBERS[type]
  return number ? ['number', number] : undefined
}

/** A struct whose bytes mean the same elsewhere, but for device numbers: no pointers, no handles. */
function isFlat(spec: Spec, type: string): boolean {
  const alias = every(spec.declarations, 'type').find(({name}) => name === type)
  if (alias) return isFlat(spec, alias.of)
  const record = every(spec.declarations, 'record').find(({name}) => name === type)
  if (!record) return false
  const areFlat = (members: Member[]): boolean =>
    members.every(({inner, type: of}) =>
      inner ? areFlat(inner.members) : ['number', 'address', 'device', 'flat'].includes(kindOf(spec, of)?.[0] ?? ''),
    )
  return areFlat(record.of.members)
}

/** What an expression of a C type is cast to for its field. */
export function wireCast(field: Field, value: string): string {
  return `static_cast<${SCALARS[field.type]?.cpp ?? field.type}>(${value})`
}

function snake(name: string): string {
  return name
    .replace(/(\d)D/g, '$1d')
    .replace(/SMem/g, 'Smem')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
}

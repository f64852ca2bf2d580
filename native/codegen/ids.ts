// spec/API.ids: which message has which op id, and with which fields; what was given out once is never given to
// anything else.
import {hex} from './cpp.ts'
import type {Field, Spec} from './spec.ts'

/**
 * The new text of the file, the entries of messages that are gone kept as such. Throws where an id would be used again.
 * While the first line says `draft`, fields may still change under an id; once it says `frozen`, a change of fields
 * needs a new id.
 */
export function nextIds(spec: Spec, before: string): string {
  const state = before.startsWith('frozen') ? 'frozen' : 'draft'
  const given = new Map(
    before
      .split('\n')
      .slice(1)
      .filter(Boolean)
      .map((line) => {
        const [, op = '', name = '', shape = ''] = /^(0x[0-9a-f]+) (\S+)(?: (.*))?$/.exec(line) ?? []
        return [op, {name, shape}]
      }),
  )
  const own = new Map<string, string>()
  for (const message of spec.messages) {
    const op = hex(message.op)
    const old = given.get(op)
    const shape = shapeOf(spec, message.fields) + (message.reply ? ` -> ${shapeOf(spec, message.reply)}` : '')
    if (own.has(op)) throw new Error(`${message.name} and ${own.get(op)} have the same op id ${op}`)
    if (message.op <= spec.firstOp || message.op > spec.firstOp + 0xfff)
      throw new Error(`${message.name}: ${op} is outside the range of ${spec.api}`)
    if (old && old.name !== message.name) throw new Error(`${message.name}: ${op} was given to ${old.name}`)
    if (old && state === 'frozen' && old.shape !== shape)
      throw new Error(`${message.name}: its fields changed; give it a new op id instead of ${op}`)
    own.set(op, message.name)
    given.set(op, {name: message.name, shape})
  }
  const lines = [...given]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([op, {name, shape}]) => `${op} ${name} ${shape}`)
  return `${state}\n${lines.join('\n')}\n`
}

/** The fields with the structs spelled out, so that a changed struct shows. */
function shapeOf(spec: Spec, fields: Field[]): string {
  return `{${fields
    .map(({type, isArray}) => {
      const struct = spec.structs.find(({name}) => name === type)
      return (struct ? shapeOf(spec, struct.fields) : type) + (isArray ? '[]' : '')
    })
    .join(' ')}}`
}

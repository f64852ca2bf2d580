import {join, resolve} from 'node:path'
import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {messagesHeader, messagesSource} from '../../../native/codegen/messages.ts'
import {nextIds} from '../../../native/codegen/ids.ts'
import {generate} from '../../../native/codegen/files.ts'
import {emptySpec, parse, readSpec, type Spec} from '../../../native/codegen/spec.ts'

const root = resolve(import.meta.dirname, '../../..')

const read = (text: string): Spec => {
  const spec = emptySpec()
  parse(`api toy 0x3000\n${text}`, 'toy.api', spec)
  return spec
}

describe('the specification', () => {
  it('reads a call with its reply, comments aside', () => {
    const spec = read('struct Pair { a: u32  b: string[] }\ncall look 0x3001 { at: handle  pairs: Pair[] } -> { status: i32 }   # why\n')
    expect(spec.messages).toEqual([{
      kind: 'call', name: 'look', op: 0x3001, fields: [{name: 'at', type: 'handle', isArray: false}, {name: 'pairs', type: 'Pair', isArray: true}],
      reply: [{name: 'status', type: 'i32', isArray: false}],
    }])
  })

  it('says in which line it cannot read what', () => {
    expect(() => read('send oops 0x3001 { a: u32 b: u32 }')).toThrow('toy.api:2: a field is name: type')
    expect(() => read('send oops 0x3001 { } -> { status: i32 }')).toThrow('a call, and only a call, has a reply')
    expect(() => read('fn f 1.0 refuse')).toThrow('why is it not forwarded')
  })

  it('gives every function of OpenCL a fate, and a reason where it is not the device', () => {
    const spec = readSpec(join(root, 'native/spec/opencl'))
    expect(spec.functions.filter(({isInTable}) => isInTable)).toHaveLength(149)
    expect(spec.functions.filter(({how, messages}) => how === 'forward' && messages.length === 0)).toEqual([])
    expect(spec.functions.filter(({how, reason}) => how !== 'forward' && reason === '')).toEqual([])
  })
})

describe('op ids', () => {
  const first = read('send one 0x3001 { a: u32 }\nsend two 0x3002 { }')

  it('are kept when their message goes, and given to no other', () => {
    const ids = nextIds(first, '')
    expect(nextIds(read('send one 0x3001 { a: u32 }'), ids)).toBe(ids)
    expect(() => nextIds(read('send three 0x3002 { }'), ids)).toThrow('three: 0x3002 was given to two')
  })

  it('stand for the same fields for ever once the protocol is frozen', () => {
    const changed = read('send one 0x3001 { a: u64 }')
    const ids = nextIds(first, '')
    expect(nextIds(changed, ids)).toContain('0x3001 one {u64}')
    expect(() => nextIds(changed, ids.replace('draft', 'frozen'))).toThrow('give it a new op id')
  })

  it('are given once, and inside the range of the API', () => {
    expect(() => nextIds(read('send one 0x3001 { }\nsend two 0x3001 { }'), '')).toThrow('the same op id')
    expect(() => nextIds(read('send one 0x4001 { }'), '')).toThrow('outside the range')
  })
})

describe('the generated C++', () => {
  it('reads arrays of numbers in place and bounds arrays of structures by the least they take', () => {
    const spec = read('struct Named { name: string  size: u64 }\nsend list 0x3001 { sizes: u64[]  names: Named[] }')
    expect(messagesHeader(spec)).toContain('std::span<const std::uint64_t> sizes{};\n  std::vector<Named> names{};')
    expect(messagesSource(spec)).toContain('m.names.resize(r.get_count(16));')
  })

  it('is the one that is checked in', () => {
    for (const [path, text] of Object.entries(generate(root, 'opencl'))) expect(readFileSync(join(root, path), 'utf8') === text, `${path}: run node native/codegen/generate.ts`).toBe(true)
  })
})

import {join, resolve} from 'node:path'
import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {messagesHeader, messagesSource} from '../../../native/codegen/messages.ts'
import {clientStubs} from '../../../native/codegen/cuda-client.ts'
import {entries} from '../../../native/codegen/cuda-entries.ts'
import {serverCalls} from '../../../native/codegen/cuda-server.ts'
import {every} from '../../../native/codegen/declarations.ts'
import {nextIds} from '../../../native/codegen/ids.ts'
import {generate} from '../../../native/codegen/files.ts'
import {addPlainMessages} from '../../../native/codegen/plain.ts'
import {emptySpec, parse, readSpec, type Spec} from '../../../native/codegen/spec.ts'

const root = resolve(import.meta.dirname, '../../..')

const read = (text: string): Spec => {
  const spec = emptySpec()
  parse(`api toy 0x3000\n${text}`, 'toy.api', spec)
  return spec
}

describe('the specification', () => {
  it('reads a call with its reply, comments aside', () => {
    const spec = read(
      'struct Pair { a: u32  b: string[] }\ncall look 0x3001 { at: handle  pairs: Pair[] } -> { status: i32 }   # why\n',
    )
    expect(spec.messages).toEqual([
      {
        kind: 'call',
        name: 'look',
        op: 0x3001,
        fields: [
          {name: 'at', type: 'handle', isArray: false},
          {name: 'pairs', type: 'Pair', isArray: true},
        ],
        reply: [{name: 'status', type: 'i32', isArray: false}],
      },
    ])
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

  it.each(['opencl', 'cuda', 'nvml'])('of %s is the one that is checked in', (api) => {
    for (const [path, text] of Object.entries(generate(root, api)))
      expect(readFileSync(join(root, path), 'utf8') === text, `${path}: run npm run codegen`).toBe(true)
  })
})

const CUDA = `
opaque CUstream CUstream_st
opaque CUgraphNode CUgraphNode_st
type CUdeviceptr unsigned long long
type CUdevice int
enum CUlimit_enum
  CU_LIMIT_STACK_SIZE 0 "a text"
type CUlimit CUlimit_enum
record Place_st struct 16
  0 int id
  8 union
    8 size_t width
    8 struct inner
      8 CUdeviceptr at
record Pointed_st struct 8
  0 void* to
`

/** What becomes of one function of CUDA. */
const plain = (fate: string, signature: string): Spec => {
  const spec = read(`${CUDA}fn cuTryIt_v2 12.8 ptsz 13.0 ${fate}\n  CUresult (${signature})`)
  addPlainMessages(spec)
  return spec
}
const fields = (spec: Spec): string[] =>
  (spec.messages[0]?.fields ?? []).map(({name, type, isArray}) => `${name}: ${type}${isArray ? '[]' : ''}`)

describe('plain forwards', () => {
  it('carry numbers, handles, devices and structs without pointers', () => {
    const spec = plain(
      'send 0x3001',
      'CUstream hStream, CUlimit limit, CUdevice dev, CUdeviceptr dstDevice, in const Place_st* place, in const CUgraphNode* nodes[count], size_t count',
    )
    expect(spec.messages[0]).toMatchObject({kind: 'send', name: 'try_it', op: 0x3001})
    expect(fields(spec)).toEqual([
      'context: handle',
      'stream: handle',
      'limit: u32',
      'dev: u32',
      'dst_device: u64',
      'place: bytes',
      'nodes: handle[]',
    ])
    expect(serverCalls(spec)).toContain(
      'call.run(core_.table.cuTryIt_v2, hStream, static_cast<CUlimit>(m.limit), dev, call.address(m.dst_device, 1), &place, nodes.data(), static_cast<size_t>(nodes.size()));',
    )
    expect(clientStubs(spec)).toContain('m.nodes = all_nodes;\n  m.context = call.context();\n  return call.send(m);')
  })

  it('bring back what a call is asked for, and keep what it makes', () => {
    const spec = plain('call 0x3001', 'new CUgraphNode* made, out size_t* value, CUgraphNode from')
    expect(spec.messages[0]?.reply?.map(({name}) => name)).toEqual(['status', 'value'])
    expect(fields(spec)).toEqual(['context: handle', 'made: handle', 'from: handle'])
    const stub = clientStubs(spec)
    expect(stub.indexOf('m.from = ')).toBeLessThan(stub.indexOf('call.make<CUgraphNode>()'))
    expect(stub).toContain('*value = static_cast<size_t>(reply.value);\n    *made = made_made.keep();')
    expect(serverCalls(spec)).toContain('call.keep(m.made, made, m.from);')
  })

  it('are refused where a signature does not say enough', () => {
    expect(() => plain('send 0x3001', 'out size_t* value')).toThrow('a send that wants an answer')
    expect(() => plain('send 0x3001', 'size_t* value')).toThrow('value cannot travel as it stands')
    expect(() => plain('send 0x3001', 'in Pointed_st* pointed')).toThrow('pointed cannot travel as it stands')
  })
})

describe('the functions of CUDA', () => {
  const spec = readSpec(join(root, 'native/spec/cuda'))

  it('all have a fate, and a reason where it is not the device', () => {
    expect(spec.functions).toHaveLength(540)
    expect(spec.functions.filter(({how, messages}) => how === 'forward' && messages.length === 0)).toEqual([])
    expect(spec.functions.filter(({how, reason}) => how !== 'forward' && reason === '')).toEqual([])
  })

  it("have entry points by name and version, with a twin for the thread's own stream", () => {
    const of = (name: string): unknown[] =>
      entries(spec)
        .filter((one) => one.name === name)
        .map(({symbol, version}) => [symbol, version])
    expect(entries(spec)).toHaveLength(637)
    expect(of('cuMemPrefetchAsync')).toEqual([
      ['cuMemPrefetchAsync', 8000],
      ['cuMemPrefetchAsync_ptsz', 8000],
      ['cuMemPrefetchAsync_v2', 12020],
      ['cuMemPrefetchAsync_v2_ptsz', 12020],
    ])
    expect(of('cuCtxGetDevice')).toEqual([
      ['cuCtxGetDevice', 2000],
      ['cuCtxGetDevice_v2', 13000],
    ])
  })

  it('that do what another does have its signature', () => {
    expect(spec.functions.find(({name}) => name === 'cuCtxDestroy')).toMatchObject({
      same: 'cuCtxDestroy_v2',
      how: 'forward',
      messages: ['release_context'],
    })
  })
})

describe('types and numbers', () => {
  it('keep their nesting, their order and their texts', () => {
    const {declarations} = read(CUDA)
    expect(every(declarations, 'enum')[0]?.values).toEqual([{name: 'CU_LIMIT_STACK_SIZE', value: '0', text: 'a text'}])
    expect(every(declarations, 'record')[0]?.of.members.map(({name, inner}) => [name, inner?.kind])).toEqual([
      ['id', undefined],
      ['', 'union'],
    ])
    expect(() => read('record Odd struct 4\n    0 int deep')).toThrow('inside of nothing')
  })
})

describe('the functions of NVML', () => {
  const spec = readSpec(join(root, 'native/spec/nvml'))

  it('all have a fate, a reason where it is not the device, and messages that CUDA has', () => {
    expect(spec.functions).toHaveLength(399)
    expect(spec.functions.filter(({how, messages}) => how === 'forward' && messages.join() !== 'usage')).toEqual([])
    expect(spec.functions.filter(({how, reason}) => how !== 'forward' && reason === '')).toEqual([])
    expect(spec.messages).toEqual([])
  })

  it('are exported under their names, the refused with what they answer, the same with the other', () => {
    const files = generate(root, 'nvml')
    expect(files['native/gen/nvml/libnvidia-ml.map']?.match(/^ {4}nvml\w+;$/gm)).toHaveLength(399)
    const text = files['native/gen/nvml/client_exports.inc']
    expect(text).toContain(
      'nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t, char*, unsigned int) { return flexrack::client::nvml::refused(); }',
    )
    expect(text).toContain(
      'nvmlReturn_t nvmlInit() {\n  return flexrack::client::nvml::guard([&] { return flexrack::client::nvml::nvmlInit_v2(); });\n}',
    )
    expect(text).toContain(
      'const char* nvmlErrorString(nvmlReturn_t result) { return flexrack::client::nvml::nvmlErrorString(result); }',
    )
  })

  it('are no pages of messages of their own', () => {
    expect(Object.keys(generate(root, 'nvml')).toSorted()).toEqual([
      'docs/nvml-coverage.md',
      ...['client_exports.inc', 'client_functions.h', 'errors.inc', 'layouts.inc', 'libnvidia-ml.map', 'nvml.h'].map(
        (name) => `native/gen/nvml/${name}`,
      ),
    ])
  })
})

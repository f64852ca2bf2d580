import {expect, it} from 'vitest'
import {selectNodes, type Rack, type RackNode} from '../../../src/lib/rack/index.ts'

const node = (name: string, labels: Record<string, string> = {}): RackNode => ({
  name,
  host: name,
  root: '~/.flexrack',
  labels,
})
const rack: Rack = {
  name: 'lab',
  path: '/lab.yaml',
  head: {node: 'gpu-1', bind: '127.0.0.1'},
  nodes: [
    node('gpu-1', {gpu: 'a100', rack: '1'}),
    node('gpu-2', {gpu: 'h100'}),
    node('gpu-10'),
    node('cpu.1', {rack: '2'}),
  ],
}
const names = (selector: string | undefined) => selectNodes(rack, selector, [rack.nodes[2]!]).map((one) => one.name)

it.each([
  [undefined, ['gpu-10']],
  ['all', ['gpu-1', 'gpu-2', 'gpu-10', 'cpu.1']],
  ['gpu-2', ['gpu-2']],
  ['cpu.1,gpu-1', ['gpu-1', 'cpu.1']],
  ['gpu-1, gpu-1 ,gpu-*', ['gpu-1', 'gpu-2', 'gpu-10']],
  ['gpu-?', ['gpu-1', 'gpu-2']],
  ['*[12]', ['gpu-1', 'gpu-2', 'cpu.1']],
  ['gpu-[!1]', ['gpu-2']],
  ['gpu=a100', ['gpu-1']],
  ['gpu=*', ['gpu-1', 'gpu-2']],
  ['gpu=?100,rack=2', ['gpu-1', 'gpu-2', 'cpu.1']],
])('selects by %j the nodes %j, in the order of the rack file', (selector, expected) => {
  expect(names(selector)).toEqual(expected)
})

it.each([
  ['gpu-3', 'the rack lab has no node "gpu-3"; did you mean "gpu-1"?'],
  ['storage', 'the rack lab has no node "storage"'],
  ['tpu-*', 'no node of the rack lab matches tpu-*'],
  ['cpu?1?', 'no node of the rack lab matches cpu?1?'],
  ['[z-a]', 'no node of the rack lab matches [z-a]'],
  ['gpu=a10', 'no node of the rack lab has the label gpu=a10; did you mean "gpu=a100"?'],
  ['toString=x', 'no node of the rack lab has the label toString=x'],
])('answers %j with "%s"', (selector, message) => {
  expect(() => names(selector)).toThrow(expect.objectContaining({code: 'NOT_FOUND', message}))
})

it.each(['', 'gpu-1,', ',', ' '])('refuses the selector %j with an empty part', (selector) => {
  expect(() => names(selector)).toThrow(expect.objectContaining({code: 'USAGE'}))
})

it('takes a dot for a dot and no other character', () => {
  expect(() => names('cpu_1')).toThrow(expect.objectContaining({code: 'NOT_FOUND'}))
})

it('means a node whose time is over by its name alone', () => {
  const now = Date.parse('2026-11-26T12:00:00Z')
  const spot = {...node('spot-1', {gpu: 'a100'}), until: '2026-11-26T11:00:00Z'}
  const later = {...node('spot-2', {gpu: 'a100'}), until: '2026-11-26T13:00:00+00:00'}
  const mixed = {...rack, nodes: [node('gpu-1'), spot, later]}
  const named = (selector: string | undefined) => selectNodes(mixed, selector, mixed.nodes, now).map((one) => one.name)
  expect(named(undefined)).toEqual(['gpu-1', 'spot-2'])
  expect(named('all')).toEqual(['gpu-1', 'spot-2'])
  expect(named('gpu=a100')).toEqual(['spot-2'])
  expect(named('spot-1')).toEqual(['spot-1'])
  expect(named('spot-1,gpu-1')).toEqual(['gpu-1', 'spot-1'])
  expect(selectNodes({...rack, nodes: [spot]}, undefined, [spot], now)).toEqual([spot])
})

import {expect, test} from 'vitest'
import type {Host} from '../../../src/lib/host/index.ts'
import {separate, type VolumeOfNode} from '../../../src/lib/project/check-volumes.ts'
import type {Rack, RackNode} from '../../../src/lib/rack/index.ts'
import {nodesWith, volumesFor, volumeVariables} from '../../../src/lib/volume/index.ts'

const node = (name: string, labels = {}): RackNode => ({name, host: name, root: '~/.flexrack', labels})
const nodes = [node('a', {disk: 'big'}), node('b', {disk: 'big'}), node('c')]
const rack: Rack = {
  name: 'lab',
  path: '/racks/lab.yaml',
  head: {node: 'a'},
  nodes,
  volumes: {
    scratch: {path: '/scratch', kind: 'local'},
    nfs: {path: '/data', kind: 'shared', nodes: 'disk=big', read_only: true},
  },
}
const wanting = (...volumes: {name: string; write: boolean}[]) => ({volumes, path: '/p/flexrack.yaml'})
const [scratch, nfs] = [
  {name: 'scratch', write: true},
  {name: 'nfs', write: false},
]

test('a project names volumes, and gets what the rack file allows', () => {
  expect(volumesFor(wanting(scratch, nfs), rack)).toEqual([
    {name: 'scratch', path: '/scratch', write: true},
    {name: 'nfs', path: '/data', write: false},
  ])
  expect(volumeVariables(volumesFor(wanting(nfs), rack))).toEqual({FLEXRACK_VOLUME_NFS: '/data'})
  expect(() => volumesFor(wanting({name: 'scrach', write: false}), rack)).toThrow(
    expect.objectContaining({code: 'NOT_FOUND', message: expect.stringContaining('did you mean scratch?')}),
  )
  expect(() => volumesFor(wanting({name: 'constructor', write: false}), rack)).toThrow(
    expect.objectContaining({code: 'NOT_FOUND'}),
  )
  expect(() => volumesFor(wanting({name: 'nfs', write: true}), rack)).toThrow(
    expect.objectContaining({code: 'USAGE', message: expect.stringContaining('read_only')}),
  )
})

test('nodes without a volume are passed over, and are an error where they were named', () => {
  expect(nodesWith(wanting(scratch), rack, nodes, false)).toEqual(nodes)
  expect(nodesWith(wanting(scratch, nfs), rack, nodes, false).map(({name}) => name)).toEqual(['a', 'b'])
  expect(() => nodesWith(wanting(nfs), rack, nodes, true)).toThrow(
    expect.objectContaining({
      code: 'NODE_UNFIT',
      message: expect.stringContaining('c does not have the volume nfs'),
      hint: '--on a,b',
    }),
  )
  expect(() => nodesWith(wanting(nfs), rack, nodes.slice(2), false)).toThrow(
    expect.objectContaining({code: 'NODE_UNFIT'}),
  )
})

test('nodes that do not see the file of another are named, and the file is removed', async () => {
  const files = new Map([
    ['x', new Set<string>()],
    ['y', new Set<string>()],
  ])
  const on = (disk: string): Pick<Host, 'call'> => ({
    call: (async (_verb: string, {nonce, step}: {nonce: string; step: string}) => {
      const there = files.get(disk) as Set<string>
      if (step === 'write') there.add(nonce)
      const found = there.has(nonce)
      if (step === 'remove') there.delete(nonce)
      return {found}
    }) as never,
  })
  const hosts = new Map([
    ['a', on('x')],
    ['b', on('x')],
    ['c', on('y')],
  ])
  const seen = (name: string, writable: boolean, identity = '1:1') => ({node: name, writable, identity}) as VolumeOfNode
  const context = {signal: new AbortController().signal}
  expect(await separate('/data', [seen('a', false), seen('b', true), seen('c', true)], hosts, context)).toEqual([
    {node: 'c', from: 'b'},
  ])
  expect([...files.values()].map((one) => one.size)).toEqual([0, 0])
  expect(await separate('/data', [seen('a', false), seen('b', false, '2:1')], hosts, context)).toEqual([
    {node: 'b', from: 'a'},
  ])
})

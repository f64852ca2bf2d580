import {describe, expect, it} from 'vitest'
import type {NodeRoute} from '../../../src/lib/protocol/index.ts'
import type {RackNode} from '../../../src/lib/rack/index.ts'
import {addressForOthers} from '../../../src/lib/route/index.ts'
import {gangAddresses} from '../../../src/lib/train/route.ts'

const node = (name: string, address?: string): RackNode => ({
  name,
  host: name,
  root: '~/.flexrack',
  labels: {},
  ...(address && {address}),
})
const route = (machine: string, interfaces: Record<string, string>, parts: Partial<NodeRoute> = {}): NodeRoute => ({
  machine,
  interfaces: Object.entries(interfaces).map(([address, netmask], index) => ({name: `eth${index}`, address, netmask})),
  outgoing: null,
  source: null,
  ...parts,
})
const loopback = {'127.0.0.1': '255.0.0.0'}
const mask24 = '255.255.255.0'

describe('addressForOthers', () => {
  it('is loopback where all nodes are one machine in one network', () => {
    const routes = new Map([
      ['a', route('m', {...loopback, '10.0.0.1': mask24})],
      ['b', route('m', {...loopback, '10.0.0.1': mask24})],
    ])
    expect(addressForOthers([node('a'), node('b')], routes)).toBe('127.0.0.1')
  })

  it('is not loopback for two containers of one machine', () => {
    const routes = new Map([
      ['a', route('boot net:[1]', {...loopback, '172.17.0.2': '255.255.0.0'}, {outgoing: '172.17.0.2'})],
      ['b', route('boot net:[2]', {...loopback, '172.17.0.3': '255.255.0.0'})],
    ])
    expect(addressForOthers([node('a'), node('b')], routes)).toBe('172.17.0.2')
  })

  it('prefers the network that most of the others are in over the way to the internet', () => {
    const routes = new Map([
      ['a', route('1', {...loopback, '192.168.1.5': mask24, '10.9.0.1': mask24}, {outgoing: '192.168.1.5'})],
      ['b', route('2', {...loopback, '10.9.0.2': mask24})],
      ['c', route('3', {...loopback, '10.9.0.3': mask24, '192.168.1.7': mask24})],
    ])
    expect(addressForOthers([node('a'), node('b'), node('c')], routes)).toBe('10.9.0.1')
  })

  it('is the one of the default route where nothing is shared, and the rack file always wins', () => {
    const routes = new Map([
      ['a', route('1', {...loopback, '192.168.1.5': mask24, '203.0.113.4': mask24}, {outgoing: '203.0.113.4'})],
      ['b', route('2', {...loopback, '198.51.100.2': mask24})],
    ])
    expect(addressForOthers([node('a'), node('b')], routes)).toBe('203.0.113.4')
    expect(addressForOthers([node('a', 'fd00::1'), node('b')], routes)).toBe('fd00::1')
  })

  it('does not take the same address on every host, such as that of a bridge, for a shared network', () => {
    const routes = new Map([
      ['a', route('1', {...loopback, '172.17.0.1': '255.255.0.0', '10.0.0.1': mask24})],
      ['b', route('2', {...loopback, '172.17.0.1': '255.255.0.0', '10.0.0.2': mask24})],
    ])
    expect(addressForOthers([node('a'), node('b')], routes)).toBe('10.0.0.1')
  })

  it('says which node to give an address where it finds none', () => {
    const routes = new Map([
      ['a', route('1', loopback)],
      ['b', route('2', loopback)],
    ])
    expect(() => addressForOthers([node('a'), node('b')], routes)).toThrow('a has no address')
  })
})

describe('gangAddresses', () => {
  it("takes each node's source address on its way to the leader, and counts who shares a machine", () => {
    const towards = new Map([
      ['a', route('1', {}, {source: '10.0.0.1'})],
      ['b', route('2', {}, {source: '10.0.0.2'})],
      ['c', route('2', {}, {source: '10.0.0.2'})],
    ])
    expect(gangAddresses([node('a'), node('b'), node('c', '10.0.0.9')], '10.0.0.1', towards)).toEqual({
      a: {address: '10.0.0.1', neighbours: 1},
      b: {address: '10.0.0.2', neighbours: 2},
      c: {address: '10.0.0.9', neighbours: 2},
    })
  })

  it('says which node has no way there', () => {
    expect(() => gangAddresses([node('a'), node('b')], '10.0.0.1', new Map([['b', route('2', {})]]))).toThrow(
      'b has no route to 10.0.0.1',
    )
  })
})

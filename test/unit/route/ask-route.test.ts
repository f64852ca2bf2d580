import {expect, test} from 'vitest'
import type {Host} from '../../../src/lib/host/index.ts'
import {askRoute} from '../../../src/lib/route/index.ts'
import type {NodeRoute} from '../../../src/lib/protocol/index.ts'

const ROUTE: NodeRoute = {
  machine: 'm',
  outgoing: '192.0.2.1',
  source: null,
  interfaces: [{name: 'eth0', address: '192.0.2.1', netmask: '255.255.255.0'}],
}

const hostWith = (route: Partial<NodeRoute>): Host =>
  ({node: 'node-2', call: async () => ({...ROUTE, ...route})}) as unknown as Host

test('addresses of a node are taken as it tells them', async () => {
  expect(await askRoute(hostWith({source: '2001:db8::7'}))).toMatchObject({
    outgoing: '192.0.2.1',
    source: '2001:db8::7',
  })
  expect(await askRoute(hostWith({outgoing: null, interfaces: []}))).toMatchObject({outgoing: null})
})

// What a node answers ends in listeners, certificates and commands of others.
test.each([
  ['outgoing', {outgoing: '$(touch /tmp/x)'}],
  ['source', {source: '10.0.0.1,DNS:*'}],
  [
    'interface',
    {interfaces: [...ROUTE.interfaces, {name: 'eth1', address: 'attacker.example', netmask: '255.255.255.0'}]},
  ],
  ['empty', {outgoing: ''}],
  ['a list with one in it', {outgoing: ['192.0.2.1']}],
  ['an object', {source: {toString: '192.0.2.1'}}],
  ['netmask', {interfaces: [{name: 'eth0', address: '192.0.2.1', netmask: ['255.255.255.0']}]}],
  ['an interface that is none', {interfaces: [null]}],
  ['no interfaces', {interfaces: null}],
  ['interfaces that are no list', {interfaces: {length: 0}}],
  ['machine', {machine: {a: 1}}],
])('anything else than an IP address is refused: %s', async (_name, route) => {
  await expect(askRoute(hostWith(route as Partial<NodeRoute>))).rejects.toMatchObject({
    code: 'NODE_UNFIT',
    details: {node: 'node-2'},
  })
})

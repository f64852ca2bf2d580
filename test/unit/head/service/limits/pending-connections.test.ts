import {EventEmitter} from 'node:events'
import type {Server, Socket} from 'node:net'
import {expect, test} from 'vitest'
import {originOf} from '../../../../../src/lib/head/service/limits/origin.ts'
import {PendingConnections} from '../../../../../src/lib/head/service/limits/pending-connections.ts'

class Connection extends EventEmitter {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress = '10.0.0.1'
  readonly localPort: number
  isCut = false

  constructor(remoteAddress: string, remotePort: number, localPort = 443) {
    super()
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.localPort = localPort
  }

  destroy(): void {
    this.isCut = true
    this.emit('close')
  }
}

function crowd(most: number): {
  pending: PendingConnections
  come(address: string, port: number, localPort?: number): Connection
} {
  const pending = new PendingConnections(most)
  const server = new EventEmitter()
  pending.watch(server as Server)
  return {
    pending,
    come(address, port, localPort) {
      const connection = new Connection(address, port, localPort)
      server.emit('connection', connection)
      return connection
    },
  }
}

test('a new one takes the place of the oldest of the address that has the most', () => {
  const {pending, come} = crowd(4)
  const alone = come('10.0.0.2', 1)
  const many = [1, 2, 3].map((port) => come('10.0.0.3', port))
  const late = come('10.0.0.4', 1)
  expect([alone, ...many, late].map((one) => one.isCut)).toEqual([false, true, false, false, false])
  expect(pending.count).toBe(4)
})

test('who has shown a token is counted no more, and never cut', () => {
  const {pending, come} = crowd(2)
  const known = come('10.0.0.2', 1)
  pending.know(known as unknown as Socket)
  for (let port = 2; port < 50; port++) come('10.0.0.2', port)
  expect([known.isCut, pending.count]).toEqual([false, 2])
  known.destroy()
  expect(pending.count).toBe(2)
})

test('one port there, connected to two listeners here, is two, and gone it leaves no count behind', () => {
  const {pending, come} = crowd(100)
  for (let round = 0; round < 300; round++)
    for (const one of [come('127.0.0.1', 9, 443), come('127.0.0.1', 9, 80)].toReversed()) one.destroy()
  expect(pending.count).toBe(0)
})

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:0:0:1:2:3:4', '2001:db8:0:0'],
  ['2001:db8:0:1::', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['1:2:3:4:5:6:7::', '1:2:3:4'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%s counts as %s', (address, origin) => expect(originOf(address)).toBe(origin))

test('whoever has a whole IPv6 network is one origin', () => {
  const {come} = crowd(4)
  const other = come('2001:db8:0:1::1', 1)
  const many = [1, 2, 3, 4].map((host) => come(`2001:db8::${host}`, 1))
  expect([other, ...many].map((one) => one.isCut)).toEqual([false, true, false, false, false])
})

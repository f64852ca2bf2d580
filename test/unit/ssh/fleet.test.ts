import {createServer, type AddressInfo, type Socket} from 'node:net'
import {afterEach, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {openFleet} from '../../../src/lib/ssh/index.ts'

const sockets = new Set<Socket>()
let calls = 0
const server = createServer((socket) => {
  calls++
  sockets.add(socket)
})

afterEach(async () => {
  for (const one of sockets) one.destroy()
  await new Promise((resolve) => server.close(resolve))
})

test('a node that has used up its time is not waited for again by who asks right after', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  const target = {name: 'mute', host: '127.0.0.1', port, user: 'nobody'}
  const fleet = openFleet([target], makeContext(), {connectTimeout: 200})
  const first = await fleet.shell('mute').catch((error: unknown) => error)
  expect(first).toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: expect.stringContaining('did not answer within 0.2 s'),
  })
  expect(await fleet.shell('mute').catch((error: unknown) => error)).toBe(first)
  expect(calls).toBe(1)
  await fleet.close()
})

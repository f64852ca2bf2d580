import {once} from 'node:events'
import {connect, createServer, type AddressInfo, type Socket} from 'node:net'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {freeWritten, ownMemoryOf, spend} from '../../../../../src/lib/head/service/limits/spent.ts'

const SIZE = 64 * 1024
const server = createServer({allowHalfOpen: true})
let [near, far]: Socket[] = []

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const came = once(server, 'connection') as Promise<[Socket]>
  near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  ;[far] = await came
  freeWritten(near)
})

afterAll(() => {
  near!.destroy()
  far!.destroy()
  server.close()
})

test('what is spent is gone once it was written, whole; nothing else is', async () => {
  const pieces = ['a', 'b', 'c'].map((letter) => Buffer.from(new ArrayBuffer(SIZE)).fill(letter))
  const [first, kept, last] = pieces
  spend(first!)
  spend(last!)
  const came: Buffer[] = []
  far!.on('data', (chunk: Buffer) => came.push(chunk))
  // All before one was written: the second and third wait in the socket, and go in one call.
  for (const piece of pieces) near!.write(piece)
  near!.end('d')
  await once(far!, 'end')
  expect(Buffer.concat(came).toString()).toBe(['a', 'b', 'c'].map((one) => one.repeat(SIZE)).join('') + 'd')
  expect(pieces.map(({length}) => length)).toEqual([0, SIZE, 0])
  expect(kept!.toString()).toBe('b'.repeat(SIZE))
})

test('memory that is shared, or not worth it, is nobody to give back', () => {
  const whole = Buffer.from(new ArrayBuffer(SIZE))
  expect(ownMemoryOf(whole)).toBe(whole.buffer)
  expect(ownMemoryOf(whole.subarray(1))).toBeUndefined()
  expect(ownMemoryOf(Buffer.from(new ArrayBuffer(100)))).toBeUndefined()
  expect(ownMemoryOf(Buffer.from(new SharedArrayBuffer(SIZE)))).toBeUndefined()
})

import type {ServerHttp2Stream} from 'node:http2'
import {Readable} from 'node:stream'
import {deflateSync, gzipSync} from 'node:zlib'
import {expect, test} from 'vitest'
import {LARGEST_MESSAGE, messagesOf} from '../../../../../src/lib/head/service/grpc/frames.ts'
import {Budget} from '../../../../../src/lib/head/service/limits/budget.ts'
import type {Limits} from '../../../../../src/lib/head/service/limits/limits.ts'

const MIB = 1024 ** 2
const limits = {pace: {everyMs: 30_000, bytes: 1}} as Limits

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head[0] = 1
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** The sizes of packed messages as they are read, in pieces of `size` bytes, where all may hold `limit` bytes. */
async function read(encoding: string, messages: Buffer[], limit: number, size = 1000): Promise<number[]> {
  const budget = new Budget('bodies of requests', {limit, share: 1, oldestGoesOn: false})
  const bytes = Buffer.concat(messages.map(framed))
  const pieces = Array.from({length: Math.ceil(bytes.length / size)}, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  )
  const sizes: number[] = []
  try {
    const stream = Readable.from(pieces) as unknown as ServerHttp2Stream
    for await (const message of messagesOf(stream, encoding, budget.open('caller'), limits)) sizes.push(message.length)
    return sizes
  } finally {
    expect(budget.used).toBe(0)
  }
}

test('packed messages come as they were', async () => {
  const given = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(3 * MIB, 'ab')]
  expect(
    await read(
      'gzip',
      given.map((one) => gzipSync(one)),
      8 * MIB,
    ),
  ).toEqual([3, 0, 3 * MIB])
  expect(
    await read(
      'deflate',
      given.map((one) => deflateSync(one)),
      8 * MIB,
    ),
  ).toEqual([3, 0, 3 * MIB])
})

test('what a message becomes is counted while it is unpacked, and ended where there is no memory for more', async () => {
  const bomb = gzipSync(Buffer.alloc(LARGEST_MESSAGE + 1))
  // Unpacked as a whole first, it would be too large for a message.
  await expect(read('gzip', [bomb], MIB)).rejects.toMatchObject({
    code: 8,
    message: expect.stringContaining('no more memory'),
  })
  await expect(read('gzip', [bomb], 256 * MIB)).rejects.toMatchObject({
    code: 8,
    message: expect.stringContaining('unpacked'),
  })
})

test("damaged packing is the caller's fault", async () => {
  const packed = gzipSync(Buffer.alloc(100, 'ab'))
  await expect(read('gzip', [packed.subarray(0, -4)], MIB)).rejects.toMatchObject({code: 3})
  await expect(read('deflate', [packed], MIB)).rejects.toMatchObject({code: 3})
})

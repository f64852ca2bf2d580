import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync} from 'node:zlib'
import {expect, test} from 'vitest'
import type {Failure} from '../../../../../src/lib/head/service/failure.ts'
import type {Incoming} from '../../../../../src/lib/head/service/limits/incoming.ts'
import {makeLimits} from '../../../../../src/lib/head/service/limits/limits.ts'
import {codingOf, requireUnpacked} from '../../../../../src/lib/head/service/limits/packed.ts'
import type {ServiceConfig} from '../../../../../src/lib/head/types.ts'

const KIB = 1024
const LARGEST = 256 * KIB
const limits = makeLimits({folder: '/tmp'} as ServiceConfig)
const PACKERS: [string, (body: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync], // without zlib's head, as some clients take the word
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
]

/** Of a request with that body: bytes that it counted for, or its refusal; all is given back at its end. */
async function told(coding: string, body: Buffer, announced = body.length): Promise<number | string> {
  const works: (() => void)[] = []
  const headers = {'content-encoding': coding, 'content-length': String(announced)}
  const request: Incoming = {headers, body, atEnd: (work) => void works.push(work)}
  try {
    const known = codingOf(request, 64 * KIB)
    if (known !== undefined) await requireUnpacked(request, known, body, limits, LARGEST)
    return limits.streams.used
  } catch (error) {
    return `${(error as Failure).status} ${(error as Failure).message}`
  } finally {
    for (const work of works) work()
    expect(limits.streams.used).toBe(0)
  }
}

test.each(PACKERS)('a body packed with %s counts as large as it is unpacked, up to a bound', async (coding, pack) => {
  expect(await told(coding, pack(Buffer.alloc(LARGEST)))).toBe(LARGEST)
  expect(await told(coding, pack(Buffer.alloc(LARGEST + 1)))).toMatch(/^413 .* more than 262144 bytes unpacked/)
  const packed = pack(Buffer.from('some words, and more of them'))
  expect(await told(coding, packed.subarray(0, -5))).toMatch(/^400 .* ended early/)
  // A second one behind the first: counted with it, or refused. gzip (RFC 1952, 2.2) is the one that has members.
  const twice = await told(coding, Buffer.concat([packed, packed]))
  if (coding === 'gzip') expect(twice).toBe(56)
  else expect(twice).toMatch(/^400 there is more behind the end/)
  expect(await told(coding, Buffer.from('no packed body at all'))).toMatch(/^400 the body is not/)
})

test('what cannot be looked into does not go on', async () => {
  const body = gzipSync(gzipSync('twice'))
  expect(await told('gzip, gzip', body)).toBe(
    '415 the body is encoded with gzip, gzip; gzip, x-gzip, deflate, br, zstd are known, each alone',
  )
  expect(await told('compress', body)).toMatch(/^415/)
  expect(await told('constructor', body)).toMatch(/^415/)
  expect(await told('gzip', body, 65 * KIB)).toMatch(/^413 a packed body may have 65536 bytes/)
  expect([await told(' GZIP ', gzipSync('abc')), await told('identity', body), await told('', body)]).toEqual([3, 0, 0])
})

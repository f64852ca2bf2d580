import type {Transform} from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  constants,
  createZstdDecompress,
  type ZlibOptions,
  type ZstdOptions,
} from 'node:zlib'
import {announcedSize} from './body.ts'
import {Failure} from '../failure.ts'
import type {Incoming} from './incoming.ts'
import {holdOf, type Limits} from './limits.ts'

/** Bytes that a packed body may have unpacked: a million bytes packed well are a thousand times as many. */
const LARGEST_UNPACKED = 256 * 1024 ** 2
/** Fewer and larger pieces, as they are only counted. */
const PIECE: ZlibOptions = {chunkSize: 256 * 1024}
/** 8 MiB, which is what a reader is to know (RFC 8878, 3.1.1.1.2): it takes as much of the head's memory. */
const ZSTD: ZstdOptions = {chunkSize: 256 * 1024, params: {[constants.ZSTD_d_windowLogMax]: 23}}

/** By content coding (RFC 9110, 8.4.1; RFC 7932; RFC 8878): servers may know any of them. */
const UNPACKERS: Record<string, (body: Buffer) => Unpacker> = {
  gzip: () => createGunzip(PIECE),
  'x-gzip': () => createGunzip(PIECE),
  // Some leave zlib's head out, and some servers take that.
  deflate: (body) => (hasZlibHead(body) ? createInflate(PIECE) : createInflateRaw(PIECE)),
  br: () => createBrotliDecompress(PIECE),
  zstd: () => createZstdDecompress(ZSTD),
}

type Unpacker = Transform & {readonly bytesWritten: number}

/**
 * How the body of a request is packed; undefined of one that is not. Throws 415 where its size unpacked could not be
 * found, and 413 where it is too large packed: it is looked through before it goes on; 501 where it is packed for the way
 * to us only (RFC 9112, 7), which nobody would undo.
 */
export function codingOf(request: Incoming, largest: number): string | undefined {
  const transfer = request.headers['transfer-encoding']?.trim().toLowerCase()
  if (transfer !== undefined && transfer !== 'chunked')
    throw new Failure(501, 'USAGE', `the body is sent as ${transfer.slice(0, 40)}; chunked alone is known`)
  const given = request.headers['content-encoding']?.trim().toLowerCase()
  if (given === undefined || given === '' || given === 'identity' || request.body === undefined) return undefined
  const known = Object.keys(UNPACKERS)
  if (!Object.hasOwn(UNPACKERS, given)) {
    const message = `the body is encoded with ${given.slice(0, 40)}; ${known.join(', ')} are known, each alone`
    throw new Failure(415, 'USAGE', message)
  }
  if (announcedSize(request) > largest) {
    const message = `a packed body may have ${largest} bytes; send one that is larger unpacked`
    throw new Failure(413, 'USAGE', message)
  }
  return given
}

/**
 * Finds out how large a packed body is unpacked, before a model server does it in its memory; of it nothing is kept. It
 * counts as an upload of that size until the request has ended, as it would have unpacked. Errors: 413 too large, 400
 * where it is broken, 503 and 429 from the budget.
 */
export async function requireUnpacked(
  request: Incoming,
  coding: string,
  body: Buffer,
  limits: Limits,
  largest = LARGEST_UNPACKED,
): Promise<void> {
  const hold = holdOf(request, limits.streams)
  const unpacker = UNPACKERS[coding]!(body)
  request.atEnd(() => void unpacker.destroy())
  let size = 0
  unpacker.end(body)
  try {
    for await (const piece of unpacker as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > largest) {
        const message = `the body has more than ${largest} bytes unpacked; send one that is larger as it is`
        throw new Failure(413, 'USAGE', message)
      }
      hold.add(piece.length)
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(400, 'USAGE', brokenText(error as Error & {code?: string}, coding))
  }
  // What one reader leaves, another may take for more of it.
  if (unpacker.bytesWritten < body.length)
    throw new Failure(400, 'USAGE', `there is more behind the end of the ${coding} body`)
}

function brokenText({code, message}: Error & {code?: string}, coding: string): string {
  // Also of a request that is gone: its unpacker was ended, and nobody reads this.
  if (code === 'Z_BUF_ERROR' || code === 'ERR_STREAM_PREMATURE_CLOSE') return `the ${coding} body ended early`
  return `the body is not ${coding}: ${message}`
}

/** RFC 1950, 2.2: the method is 8, and both bytes together a multiple of 31. */
function hasZlibHead(body: Buffer): boolean {
  return body.length >= 2 && (body[0]! & 15) === 8 && body.readUInt16BE(0) % 31 === 0
}

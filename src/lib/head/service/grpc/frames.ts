import type {ServerHttp2Stream} from 'node:http2'
import {createGunzip, createInflate} from 'node:zlib'
import type {Hold} from '../limits/budget.ts'
import {Failure} from '../failure.ts'
import type {Limits} from '../limits/limits.ts'
import {Pace} from '../limits/pace.ts'
import {CODES, Status} from './status.ts'

/** Bytes of one message, packed and unpacked. */
export const LARGEST_MESSAGE = 128 * 1024 ** 2
const HEAD = 5
const PIECE = {chunkSize: 64 * 1024}
const UNPACKERS = {gzip: () => createGunzip(PIECE), deflate: () => createInflate(PIECE)}

/**
 * The messages of a call, as they come: five bytes say whether one is packed, and how long it is
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Each counts in `hold` until the next is asked for.
 * Throws Status.
 */
export async function* messagesOf(
  stream: ServerHttp2Stream,
  encoding: string,
  hold: Hold,
  limits: Limits,
): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let size = 0
  const join = (): Buffer => {
    const [only] = pieces
    const all = only && pieces.length === 1 ? only : Buffer.concat(pieces)
    pieces = [all]
    return all
  }
  const pace = new Pace(
    limits.pace,
    () => size > 0 && stream.readableLength === 0,
    (failure) => stream.destroy(failure),
  )
  try {
    // Destroyed, it could not say why.
    for await (const chunk of stream.iterator({destroyOnReturn: false}) as AsyncIterable<Buffer>) {
      pace.add(chunk.length)
      take(hold, chunk.length)
      pieces.push(chunk)
      size += chunk.length
      while (size >= HEAD) {
        const [first] = pieces
        const head = first && first.length >= HEAD ? first : join()
        const length = head.readUInt32BE(1)
        if (length > LARGEST_MESSAGE)
          throw new Status(CODES.exhausted, `a message has ${length} bytes, more than the ${LARGEST_MESSAGE} allowed`)
        if (size < HEAD + length) break
        const all = join()
        const message = all.subarray(HEAD, HEAD + length)
        pieces = [all.subarray(HEAD + length)]
        size -= HEAD + length
        yield all[0] === 0 ? message : await unpack(message, encoding, hold)
        hold.release()
        take(hold, size)
      }
    }
    if (size > 0) throw new Status(CODES.invalid, 'the last message ended early')
  } finally {
    pace.stop()
    hold.release()
  }
}

/** Each piece counts before the next is made: a few bytes may become a thousand times as many, of many calls at once. */
async function unpack(message: Buffer, encoding: string, hold: Hold): Promise<Buffer> {
  if (!Object.hasOwn(UNPACKERS, encoding))
    throw new Status(CODES.unimplemented, `messages packed with "${encoding}" are not known; gzip and deflate are`)
  const unpacker = UNPACKERS[encoding as keyof typeof UNPACKERS]()
  const pieces: Buffer[] = []
  let size = 0
  unpacker.end(message)
  try {
    for await (const piece of unpacker as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > LARGEST_MESSAGE)
        throw new Status(CODES.exhausted, `a message has more than the ${LARGEST_MESSAGE} bytes allowed, unpacked`)
      take(hold, piece.length)
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  } catch (error) {
    if (error instanceof Status) throw error
    throw new Status(CODES.invalid, `a message cannot be unpacked: ${(error as Error).message}`)
  }
}

/** As Hold.add, in the words of gRPC. */
export function take(hold: Hold, bytes: number): void {
  try {
    hold.add(bytes)
  } catch (error) {
    if (error instanceof Failure) throw new Status(CODES.exhausted, error.message, 2)
    throw error
  }
}

/** Writes one message; resolves once there is room for more. */
export async function writeMessage(stream: ServerHttp2Stream, pieces: Buffer[], size: number): Promise<void> {
  const head = Buffer.alloc(HEAD)
  head.writeUInt32BE(size, 1)
  for (const piece of [head, ...pieces]) {
    if (stream.destroyed || stream.closed) return
    if (piece.length > 0 && !stream.write(piece)) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          stream.off('drain', end).off('close', end)
          resolve()
        }
        stream.once('drain', end).once('close', end)
      })
    }
  }
}

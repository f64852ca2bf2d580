import type {Readable} from 'node:stream'
import {Failure} from '../failure.ts'
import type {Incoming} from './incoming.ts'
import {holdOf, type Limits} from './limits.ts'
import {Pace} from './pace.ts'
import {ownMemoryOf} from './spent.ts'

/**
 * Reads a whole body, up to a limit in bytes; it counts in the budget for buffers until the request has ended. What
 * comes after a refusal is thrown away. Errors: 413 too large, 408 too slow, 503 and 429 from the budget, 400 where it
 * ends early.
 */
export async function readBody(request: Incoming, limit: number, limits: Limits): Promise<Buffer> {
  const stream = request.body as Readable | undefined
  if (!stream) return Buffer.alloc(0)
  requireSize(request, limit)
  const hold = holdOf(request, limits.buffers)
  return new Promise<Buffer>((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    let isOver = false
    const pace = new Pace(
      limits.pace,
      () => true,
      (failure) => fail(failure),
    )
    // Its listeners stay: to take them away costs more than they do.
    const leave = (): void => {
      isOver = true
      pace.stop()
    }
    const fail = (failure: unknown): void => {
      leave()
      chunks = []
      hold.release()
      stream.resume()
      reject(failure as Error)
    }
    const take = (chunk: Buffer): void => {
      if (isOver) return
      size += chunk.length
      pace.add(chunk.length)
      try {
        if (size > limit) throw new Failure(413, 'USAGE', `the body is larger than ${limit} bytes`)
        hold.add(chunk.length)
        chunks.push(chunk)
      } catch (error) {
        fail(error)
      }
    }
    const end = (): void => {
      if (isOver) return
      leave()
      resolve(chunks.length === 1 ? chunks[0]! : joined(chunks))
      chunks = []
    }
    const broken = (): void => {
      if (!isOver) fail(new Failure(400, 'USAGE', 'the body ended early'))
    }
    stream.on('data', take).on('end', end).on('close', broken).on('error', broken)
  })
}

/** What they were is given back at once. */
function joined(chunks: Buffer[]): Buffer {
  const body = Buffer.concat(chunks)
  for (const chunk of chunks) ownMemoryOf(chunk)?.transfer(0)
  return body
}

/** Refuses a body whose announced size is over the limit before it is read. */
export function requireSize(request: Incoming, limit: number): void {
  const announced = announcedSize(request)
  if (announced > limit)
    throw new Failure(413, 'USAGE', `the body has ${announced} bytes, more than the ${limit} allowed`)
}

/** Bytes that the body is said to have; 0 where that is not said. */
export function announcedSize(request: Incoming): number {
  return Number(request.headers['content-length'] ?? 0)
}

/** How routes that belong together read their bodies. */
export type BodyOf = (request: Incoming) => Promise<Record<string, unknown>>

/** A whole body that is a JSON object. Errors: those of readBody, and 400. */
export async function readObject(request: Incoming, limit: number, limits: Limits): Promise<Record<string, unknown>> {
  return parseObject(await readBody(request, limit, limits))
}

/** The body as a JSON object; an empty body is {}. */
export function parseObject(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    throw new Failure(400, 'USAGE', 'the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Failure(400, 'USAGE', 'the body is not a JSON object')
  return value as Record<string, unknown>
}

import type {FastifyRequest} from 'fastify'
import {Failure} from './failure.ts'

/** Reads a whole body, up to a limit in bytes. The rest of one that is too large is thrown away with the connection. */
export async function readBody(request: FastifyRequest, limit: number): Promise<Buffer> {
  const stream = request.body as NodeJS.ReadableStream | undefined
  if (!stream) return Buffer.alloc(0)
  requireSize(request, limit)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += (chunk as Buffer).length
    if (size > limit) throw new Failure(413, 'USAGE', `the body is larger than ${limit} bytes`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** Refuses a body whose announced size is over the limit before it is read. */
export function requireSize(request: FastifyRequest, limit: number): void {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limit) throw new Failure(413, 'USAGE', `the body has ${announced} bytes, more than the ${limit} allowed`)
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Failure(400, 'USAGE', 'the body is not a JSON object')
  return value as Record<string, unknown>
}

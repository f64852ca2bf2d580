import {Transform, type Readable, type TransformCallback} from 'node:stream'
import {announcedSize, requireSize} from './body.ts'
import {Failure} from '../failure.ts'
import type {Incoming} from './incoming.ts'
import {holdOf, type Limits} from './limits.ts'
import {Pace} from './pace.ts'
import type {Promised} from './room.ts'

/** A body without a size is given room on the disk in steps of this. */
const ROOM_STEP = 8 * 1024 * 1024
/** What may wait between the two connections: a sender that is stopped and started again for each piece costs more. */
const AHEAD = 512 * 1024

/**
 * Makes the request's body one that is passed on as it comes, and counts it: every byte in the budget for streams,
 * whether it was announced or comes in chunks, and where it goes to the head's disk (`onDisk`) in its room. What is
 * refused in the middle ends the call to the other side; `failureOf` finds the reason again. `tell` sees each piece.
 * Errors at once: 413, 507.
 */
export async function passBody(
  request: Incoming,
  limit: number,
  limits: Limits,
  onDisk: boolean,
  tell?: (chunk: Buffer) => void,
): Promise<void> {
  const source = request.body as Readable | undefined
  if (!source) return
  requireSize(request, limit)
  const room = onDisk ? limits.room.open() : undefined
  if (room) request.atEnd(() => room.release())
  const announced = announcedSize(request)
  await room?.add(announced)
  request.body = counted(source, request, limit, limits, announced, room, tell)
}

function counted(
  source: Readable,
  request: Incoming,
  limit: number,
  limits: Limits,
  announced: number,
  room: Promised | undefined,
  tell: ((chunk: Buffer) => void) | undefined,
): Transform {
  const hold = holdOf(request, limits.streams)
  let size = 0
  let given = announced
  const take = (chunk: Buffer): void => {
    size += chunk.length
    pace.add(chunk.length)
    if (size > limit) throw new Failure(413, 'USAGE', `the body is larger than ${limit} bytes`)
    hold.add(chunk.length)
    tell?.(chunk)
  }
  const transform = (chunk: Buffer, _encoding: string, done: TransformCallback): void => {
    try {
      take(chunk)
    } catch (error) {
      return done(error as Error)
    }
    if (!room || size <= given) return done(null, chunk)
    given += ROOM_STEP
    room.add(ROOM_STEP).then(() => done(null, chunk), done)
  }
  const passed = new Transform({highWaterMark: AHEAD, transform})
  const pace = new Pace(
    limits.pace,
    () => passed.readableLength === 0 && source.readableLength === 0,
    (failure) => passed.destroy(failure),
  )
  const broken = (): void => void passed.destroy(new Failure(400, 'USAGE', 'the body ended early'))
  source
    .once('end', () => source.off('close', broken))
    .once('close', broken)
    .on('error', broken)
  passed.once('close', () => {
    pace.stop()
    hold.release()
    source.unpipe(passed)
    source.resume() // thrown away, so that the answer can still be read
  })
  passed.on('error', () => {})
  return source.pipe(passed)
}

/** The refusal that ended a call in its middle; undefined where it was something else. */
export function failureOf(error: unknown): Failure | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Failure) return at
  return undefined
}

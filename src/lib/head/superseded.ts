import {setTimeout as pause} from 'node:timers/promises'
import {CliError, isCliError, throwIfInterrupted, type Context} from '../base/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {connectHead, type HeadConnection} from './connect.ts'
import {headAccess, headNode, openHeadHost} from './places.ts'
import type {ServerStatus} from './types.ts'

const ANSWER_MS = 60_000
const LOOK_MS = 300
/** By then a head that was started has heard of one that took over (service/standby/deposing.ts). */
const HEARD_MS = 8000

/** Errors: CONFLICT where the rack file's head has stepped down, as its standby was made the head by another rack file. */
export function requireHead(rack: Rack, {superseded}: Pick<ServerStatus, 'superseded'>): void {
  if (!superseded) return
  const {node, url, at} = superseded
  throw new CliError(
    'CONFLICT',
    `the head on ${rack.head.node} has stepped down at ${at}: ${node} (${url}) is the head of rack ${rack.name}, and ${rack.path} does not say so`,
    {hint: `flexrack head promote --rack ${rack.name}`, details: {node, url}},
  )
}

/**
 * What a head says of itself, once it is known which of the two is the head: a rack file may be older than the last
 * `head promote`, and what it calls the standby may be the head, of which this one hears after its start. Errors: CONFLICT.
 */
export async function firstOfTwo(
  head: HeadConnection,
  {rack, fleet, context}: {rack: Rack; fleet: Fleet; context: Context},
): Promise<ServerStatus> {
  for (const until = Date.now() + HEARD_MS; ;) {
    const status = await head.request<ServerStatus>('GET', '/flexrack/v1/status')
    requireHead(rack, status)
    if (Date.now() > until || (await mayFollow(rack, fleet, context))) return status
    await pause(LOOK_MS)
  }
}

/** False where the standby's node runs a head, and one that has not stepped down. */
async function mayFollow(rack: Rack, fleet: Fleet, context: Context): Promise<boolean> {
  try {
    const other = await headBeside(rack, fleet, context)
    return other === undefined || other.superseded !== undefined
  } catch (error) {
    // None runs there, or it answers nobody.
    if (isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT', 'HEAD_FAILED')) return true
    throw error
  }
}

/**
 * What the standby's node says where it follows nobody: it was the head, or is it. Undefined where it follows. Errors:
 * those of connectHead and its requests.
 */
export async function headBeside(rack: Rack, fleet: Fleet, context: Context): Promise<ServerStatus | undefined> {
  const there = {...rack, head: {...rack.head, node: headNode(rack, 'standby').name}}
  const host = await openHeadHost(there, fleet, context)
  if ((await host.call('head.access', {})).follows) return undefined
  const {token, ...access} = await headAccess(there, host)
  const other = await connectHead(there, fleet, context, 'first', {access, token})
  try {
    return await other.request<ServerStatus>('GET', '/flexrack/v1/status')
  } finally {
    await other.close()
  }
}

/**
 * Has the head of a rack be it again, with what it knew, where it had stepped down for one that is lost as well. Errors:
 * those of connectHead; TIMED_OUT.
 */
export async function resume(rack: Rack, fleet: Fleet, context: Context): Promise<void> {
  for (const until = Date.now() + ANSWER_MS; ;) {
    throwIfInterrupted(context.signal)
    try {
      if (await isHead(rack, fleet, context)) return
    } catch (error) {
      if (Date.now() > until || !isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
    }
    if (Date.now() > until)
      throw new CliError('TIMED_OUT', `the head on ${rack.head.node} still says that it has stepped down`, {
        hint: 'flexrack head status',
      })
    await pause(LOOK_MS)
  }
}

/** Otherwise it has been told to be it, and is started anew. */
async function isHead(rack: Rack, fleet: Fleet, context: Context): Promise<boolean> {
  const connection = await connectHead(rack, fleet, context)
  try {
    const {superseded} = await connection.request<ServerStatus>('GET', '/flexrack/v1/status')
    if (!superseded) return true
    context.reporter.warn(
      `${rack.head.node} had stepped down for ${superseded.node} at ${superseded.at}: what was changed since then is lost with that node`,
    )
    await connection.request('DELETE', '/flexrack/v1/superseded')
    return false
  } finally {
    await connection.close()
  }
}

import type {Socket} from 'node:net'
import type {EndpointRecord} from '../documents/endpoints.ts'
import {LONGEST_MS} from '../queue/deadline.ts'
import {rulesOf} from '../queue/settings.ts'

/** A client that says and takes nothing for so long is ended by its connection's timeout; milliseconds. */
export const SILENCE_MS = 360_000
/** The gateway's own answer is to come before. */
const MARGIN_MS = 30_000
const MINUTE_MS = 60_000

/**
 * How long the servers of an endpoint may be silent with a request, in milliseconds; 0 where its caller's deadline says
 * it alone. The caller's connection lives for as long as an answer may take. `deadline`: by performance.now().
 */
export function silenceOf(record: EndpointRecord, deadline: number | undefined, socket: Socket): number {
  const {seconds, answer} = rulesOf(record)
  const {startSeconds} = record.document.active ?? {}
  const waits = Math.max(seconds, startSeconds === undefined ? 0 : longestStart(startSeconds))
  const left = deadline === undefined ? (waits + answer) * 1000 : deadline - performance.now()
  const needed = Math.ceil((left + MARGIN_MS) / MINUTE_MS) * MINUTE_MS
  // node:http sets it anew for the connection's next request.
  if (needed > SILENCE_MS) socket.setTimeout(Math.min(needed, LONGEST_MS))
  return deadline === undefined ? answer * 1000 : 0
}

/** Seconds that requests wait for a server that took so many to start: the next start may be slower. */
export function longestStart(seconds: number): number {
  return 2 * seconds + 10
}

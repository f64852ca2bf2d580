import type {IncomingHttpHeaders} from 'node:http2'
import {onwardHeaders} from '../onward.ts'
import {CODES, Status} from './status.ts'

/** Said by HTTP/2 or us for the call that is made of it. */
const OWN = ['accept-encoding', 'host', 'inference-header-content-length']

/** Of all headers of a call over HTTP 16 KiB are read. */
const MOST_BYTES = 12 * 1024

/**
 * What callers say besides a call, as headers of the call over HTTP that is made of it: by one of them a canary's
 * requests may be split, and model servers read others. Binary values (`-bin`) are gRPC's alone.
 * Throws Status.
 */
export function metadataOf(headers: IncomingHttpHeaders): Record<string, string> {
  const left: Record<string, string> = {}
  for (const name of Object.keys(onwardHeaders(headers, false, ...OWN))) {
    if (/^:|^grpc-|-bin$/.test(name)) continue
    const value = headers[name]
    const text = Array.isArray(value) ? value.join(', ') : value
    if (text !== undefined && /^[\x20-\x7e]*$/.test(text)) left[name] = text
  }
  const bytes = Object.entries(left).reduce((sum, [name, text]) => sum + name.length + text.length, 0)
  if (bytes > MOST_BYTES)
    throw new Status(CODES.exhausted, `the metadata has ${bytes} bytes, more than the ${MOST_BYTES} allowed`)
  return left
}

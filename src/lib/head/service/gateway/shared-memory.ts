import type {IncomingHttpHeaders} from 'node:http'
import type {GatewayCall} from './calls.ts'
import {Failure} from '../failure.ts'

/** The parameter of a tensor that says where. */
export const REGION = 'shared_memory_region'
/** A buffer is found in a buffer without being written down anew each time. */
const REGION_BYTES = Buffer.from(REGION)
/** More JSON is not looked through, as reading it takes the head's time; with tensors in memory there is little of it. */
const LARGEST_HEAD = 1024 ** 2

/** Why tensors in memory of the server's machine are refused: some servers pass over that, and answer otherwise. */
export const NO_SHARED_MEMORY =
  'a tensor is said to be in shared memory, which an endpoint has none of: send it in the request, and take it from the answer'

/**
 * Refuses tensors in shared memory (Triton's extension,
 * https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_shared_memory.md). `body`: one that
 * is kept and not packed; of others, and of long ones, their server says it. Throws 400.
 */
export function requireNoRegion({path}: GatewayCall, headers: IncomingHttpHeaders, body: Buffer): void {
  if (!path.startsWith('/v2/models/')) return
  const length = Number(headers['inference-header-content-length'] ?? Number.NaN)
  const head = Number.isNaN(length) ? body : body.subarray(0, length)
  // A text of a tensor may say it, too.
  if (head.length <= LARGEST_HEAD && head.includes(REGION_BYTES) && namesRegion(head))
    throw new Failure(400, 'USAGE', NO_SHARED_MEMORY)
}

function namesRegion(head: Buffer): boolean {
  try {
    const {inputs, outputs} = JSON.parse(head.toString('utf8')) as {inputs?: unknown; outputs?: unknown}
    return [inputs, outputs].flat().some((one) => {
      const {parameters} = (one ?? {}) as {parameters?: object | null}
      return typeof parameters === 'object' && parameters !== null && Object.hasOwn(parameters, REGION)
    })
  } catch {
    return false // its server says what is wrong with it
  }
}

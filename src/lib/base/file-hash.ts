import {createHash} from 'node:crypto'
import {createReadStream} from 'node:fs'

const PIECE_BYTES = 1 << 20

/** SHA-256 of a file's content, 64 hex digits. `signal` ends the reading, with an AbortError. */
export async function hashFile(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, {highWaterMark: PIECE_BYTES, ...(signal && {signal})}))
    hash.update(chunk as Buffer)
  return hash.digest('hex')
}

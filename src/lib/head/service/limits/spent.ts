import type {Socket} from 'node:net'

/**
 * A piece of so many bytes, alone in its memory, does not wait for a collection: some hundred of them make V8 look
 * through all that there is, whatever little of it is theirs (docs/adr/0066).
 */
const LARGE = 8 * 1024

/** Pieces that nobody reads again once they have been written. */
const spent = new WeakSet<Uint8Array>()

/** Says of a piece that nobody reads it again once it has been written; small ones are not worth it. */
export function spend(chunk: Uint8Array): void {
  if (ownMemoryOf(chunk)) spent.add(chunk)
}

/**
 * The memory of a piece that has it for itself and is large, to be given back by `transfer(0)`. Undefined of others: their
 * memory is somebody else's, too.
 */
export function ownMemoryOf(chunk: Uint8Array): ArrayBuffer | undefined {
  const {buffer, length} = chunk
  return length >= LARGE && length === buffer.byteLength && buffer instanceof ArrayBuffer ? buffer : undefined
}

/** Has the memory of what is spent given back as soon as the socket has written it: undici does not say when that is. */
export function freeWritten(socket: Socket): void {
  const write = socket.write.bind(socket) as (chunk: unknown, ...more: unknown[]) => boolean
  const freeing = (chunk: Uint8Array | string, ...more: unknown[]): boolean => {
    if (typeof chunk === 'string' || more.length > 0 || !spent.has(chunk)) return write(chunk, ...more)
    return write(chunk, (error?: Error | null) => void (error ?? ownMemoryOf(chunk)?.transfer(0)))
  }
  socket.write = freeing
}

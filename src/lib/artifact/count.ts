import {Transform, pipeline, type Readable} from 'node:stream'

/** The stream itself, telling how many bytes went through. */
export function count(stream: Readable, onBytes: ((bytes: number) => void) | undefined): Readable {
  if (!onBytes) return stream
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      onBytes(bytes)
      done(null, chunk)
    },
  })
  // The callback only keeps an error from being unhandled: it reaches the reader through the returned stream.
  return pipeline(stream, counter, () => {})
}

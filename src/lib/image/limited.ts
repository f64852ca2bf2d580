import {createHash} from 'node:crypto'
import {Transform, type Readable, type TransformCallback} from 'node:stream'
import {CliError} from '../base/index.ts'
import type {Descriptor} from './types.ts'

/** A whole answer that is known to be small. Errors: REMOTE_FAILED where it goes on beyond that. */
export async function readSmall(stream: Readable, most: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) throw new CliError('REMOTE_FAILED', `${what} has more than ${most} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Passes on exactly the bytes that the descriptor names, and fails for more, for fewer, and for others. */
export class Checked extends Transform {
  readonly #wanted: Descriptor
  readonly #hash = createHash('sha256')
  readonly #tell: (sent: number) => void
  #size = 0

  constructor(wanted: Descriptor, tell: (bytes: number) => void = () => {}) {
    super()
    this.#wanted = wanted
    this.#tell = tell
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#size += chunk.length
    if (this.#size > this.#wanted.size)
      return done(
        new CliError(
          'REMOTE_FAILED',
          `blob ${this.#wanted.digest} has more than the ${this.#wanted.size} bytes that the manifest says`,
          {details: {digest: this.#wanted.digest}},
        ),
      )
    this.#hash.update(chunk)
    this.#tell(this.#size)
    done(null, chunk)
  }

  override _flush(done: TransformCallback): void {
    const digest = `sha256:${this.#hash.digest('hex')}`
    if (this.#size !== this.#wanted.size)
      return done(
        new CliError(
          'REMOTE_FAILED',
          `blob ${this.#wanted.digest} ended after ${this.#size} of ${this.#wanted.size} bytes`,
          {hint: 'run the command again', details: {digest: this.#wanted.digest}},
        ),
      )
    if (digest !== this.#wanted.digest)
      return done(
        new CliError('REMOTE_FAILED', `blob ${this.#wanted.digest} is damaged: its content has the digest ${digest}`, {
          hint: 'nothing of it is used; pull or build the image anew',
          details: {digest: this.#wanted.digest},
        }),
      )
    done()
  }
}

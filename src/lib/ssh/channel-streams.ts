import {Readable, Writable} from 'node:stream'
import {Preamble} from './bootstrap.ts'

/**
 * One output of a remote process without its preamble. Unlike ssh2's own streams, it errors when the connection is
 * lost: a cut is no end.
 */
export class ChannelOutput extends Readable {
  readonly #source: Readable
  readonly #preamble: Preamble
  /** The remote process's id, once the preamble is over; undefined when the stream ended before that. */
  readonly started: Promise<string | undefined>
  #begin!: (pid: string | undefined) => void
  #open = false

  constructor(source: Readable, nonce: string) {
    super({highWaterMark: 262_144})
    this.#source = source
    this.#preamble = new Preamble(nonce)
    this.started = new Promise((resolve) => (this.#begin = resolve))
    source.on('data', (chunk: Buffer) => this.#take(chunk))
    source.on('end', () => {
      this.#begin(undefined)
      this.push(null)
    })
  }

  /** What came instead of the nonce. */
  get noise(): string {
    return this.#preamble.noise
  }

  /** Ends the stream with an error; later data is dropped. */
  cut(error: Error): void {
    this.#begin(undefined)
    // Nobody may be listening, and a lost connection is told by `exit` as well.
    if (this.listenerCount('error') === 0) this.on('error', () => {})
    this.destroy(error)
    this.#source.resume()
  }

  override _read(): void {
    this.#source.resume()
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return
    let data = chunk
    if (!this.#open) {
      const found = this.#preamble.feed(chunk)
      if (!found) return
      this.#open = true
      this.#begin(found.pid)
      data = found.rest
      if (data.length === 0) return
    }
    if (!this.push(data)) this.#source.pause()
  }
}

/**
 * stdin of a remote process. Unlike ssh2's own stream, a write to a process that is gone fails (EPIPE) and does not
 * wait for ever.
 */
export class ChannelInput extends Writable {
  readonly #target: Writable
  #pending: ((error?: Error) => void) | undefined
  #gone: Error | undefined

  constructor(target: Writable) {
    super({highWaterMark: 262_144})
    this.#target = target
    // Most callers do not care that a process stopped reading; its exit status tells.
    this.on('error', () => {})
  }

  /** The other side does not read any more. */
  cut(error: Error): void {
    if (this.#gone) return
    this.#gone = error
    const pending = this.#pending
    this.#pending = undefined
    if (pending) pending(error)
    else if (!this.writableFinished) this.destroy(this.writableEnded ? undefined : error)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.#gone) return callback(this.#gone)
    this.#pending = callback
    this.#target.write(chunk, () => {
      const pending = this.#pending
      this.#pending = undefined
      pending?.()
    })
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#target.end()
    callback()
  }

  /** Given up half-way: the process sees the end of its input, and it is for the script to know that it came early. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#gone) this.#target.end()
    callback(error)
  }
}

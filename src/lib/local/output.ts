import type {Readable} from 'node:stream'
import type {ServerChannel} from 'ssh2'

/** The parts of ssh2's channel that tell how much the other side is ready to take. */
interface ChannelInside {
  outgoing: {window: number; state: string}
  _waitWindow: boolean
  _chunk: unknown
  _chunkcb: (() => void) | undefined
}

/**
 * Sends stdout and stderr of a process over a channel, never more than its window. ssh2 itself cannot hold back both at
 * once (it repeats the one and forgets the other), so nothing is given to it that does not fit.
 */
export class ChannelOutput {
  readonly #channel: ServerChannel
  readonly #inside: ChannelInside
  #waiting: (() => void)[] = []

  constructor(channel: ServerChannel) {
    this.#channel = channel
    this.#inside = channel as unknown as ChannelInside
  }

  /** Resolves when the source has ended and all of it is sent, or the source was destroyed. */
  send(source: Readable, to: 'stdout' | 'stderr'): Promise<void> {
    const target = to === 'stdout' ? this.#channel : this.#channel.stderr
    return new Promise((resolve) => {
      let sending = false
      let ended = false
      const push = (chunk: Buffer): void => {
        sending = true
        let rest = chunk
        while (rest.length > 0) {
          if (this.#inside.outgoing.state !== 'open') return resolve()
          const room = this.#inside.outgoing.window
          if (room <= 0) {
            source.pause()
            this.#whenRoom(() => push(rest))
            return
          }
          target.write(rest.subarray(0, room))
          rest = rest.subarray(room)
        }
        sending = false
        if (ended) resolve()
        else source.resume()
      }
      source.on('data', push)
      source.on('end', () => {
        ended = true
        if (!sending) resolve()
      })
      source.on('error', () => resolve())
      source.on('close', () => {
        if (!sending) resolve()
      })
    })
  }

  #whenRoom(then: () => void): void {
    this.#waiting.push(then)
    this.#inside._waitWindow = true
    this.#inside._chunk = undefined
    this.#inside._chunkcb = () => {
      const waiting = this.#waiting
      this.#waiting = []
      for (const one of waiting) one()
    }
  }
}

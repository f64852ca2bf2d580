import {emitKeypressEvents} from 'node:readline'
import type {Key} from './state.ts'

/** The alternate screen and the cursor: xterm's control sequences (DEC private modes 1049 and 25). */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J'
const LEAVE = '\x1b[?25h\x1b[?1049l'

/** The whole terminal: keys one by one, lines drawn over in place. `close()` leaves it as it was, whatever happened. */
export class FullTerminal {
  #onKey: (key: Key) => void
  readonly #onResize: () => void
  #open = false
  #aside = false
  readonly #close = (): void => this.close()

  constructor(onKey: (key: Key) => void, onResize: () => void) {
    this.#onKey = onKey
    this.#onResize = onResize
  }

  /** The normal screen is shown meanwhile. */
  get isAside(): boolean {
    return this.#aside
  }

  get size(): {width: number; height: number} {
    return {width: Math.max(20, process.stdout.columns ?? 80), height: Math.max(4, process.stdout.rows ?? 24)}
  }

  open(): void {
    if (this.#open) return
    this.#open = true
    emitKeypressEvents(process.stdin)
    process.stdin.setRawMode(true)
    process.stdin.on('keypress', this.#keypress)
    process.stdin.resume()
    process.stdout.on('resize', this.#onResize)
    process.on('exit', this.#close)
    process.stdout.write(ENTER)
  }

  draw(lines: readonly string[]): void {
    if (this.#open) process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`)
  }

  /** The normal screen meanwhile, where what is written stays; keys go to `onKey`. */
  async aside<T>(onKey: (key: Key) => void, use: () => Promise<T>): Promise<T> {
    const back = this.#onKey
    this.#onKey = onKey
    this.#aside = true
    process.stdout.write(LEAVE)
    try {
      return await use()
    } finally {
      this.#onKey = back
      this.#aside = false
      if (this.#open) process.stdout.write(ENTER)
    }
  }

  /** As Ctrl-Z does it: the whole group stops, and the screen comes back with it. */
  async suspend(signal: AbortSignal): Promise<void> {
    this.close()
    const continued = new Promise<void>((done) => void process.once('SIGCONT', () => done()))
    process.kill(0, 'SIGTSTP')
    await continued
    if (!signal.aborted) this.open()
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    process.stdin.off('keypress', this.#keypress)
    process.stdin.setRawMode(false)
    process.stdin.pause()
    process.stdout.off('resize', this.#onResize)
    process.off('exit', this.#close)
    process.stdout.write(LEAVE)
  }

  readonly #keypress = (text: string | undefined, key: {name?: string; ctrl?: boolean; sequence?: string}): void => {
    const isText = text !== undefined && !text.startsWith('\x1b')
    this.#onKey({name: key.name ?? '', text: isText ? text : '', ctrl: key.ctrl === true})
  }
}

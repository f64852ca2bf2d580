/** One line of a rank, as a terminal would show it. */
export interface RankLine {
  node: string
  rank: number
  attempt: number
  /** Where the line begins in the rank's log file, in bytes. */
  offset: number
  text: string
  /** It has no end yet: a prompt, or a progress bar that is still being drawn over. */
  partial?: true
}

export interface LineOptions {
  /** Milliseconds without news after which an unfinished line is shown as it is. */
  idle?: number
  /** Milliseconds between two showings of a line that is drawn over with carriage returns. */
  redraw?: number
}

const LF = 10
const CR = 13
/** Nobody can read a longer line; without a bound a rank that never ends a line would fill our memory. Bytes. */
const LONGEST = 64 * 1024

/**
 * Makes lines of the bytes of one log file, in any portions. Carriage returns draw over: of `10%\r20%\n` only `20%` is
 * a line. Bytes that are no UTF-8 become U+FFFD. Of a line that was shown before its end, the rest is a line of its
 * own.
 */
export class LineReader {
  readonly #source: {node: string; rank: number; attempt: number}
  readonly #idle: number
  readonly #redraw: number
  /** The unfinished line, as far as it was not shown. */
  #pending: Buffer = Buffer.alloc(0)
  /** Offset of its first byte. */
  #start: number
  /** The beginning of the line was shown already. */
  #continued = false
  /** What was shown of a line that is drawn over. */
  #drawn: string | undefined
  #changedAt = 0
  #shownAt = -Infinity

  constructor(source: {node: string; rank: number; attempt: number}, offset = 0, options: LineOptions = {}) {
    this.#source = source
    this.#start = offset
    this.#idle = options.idle ?? 500
    this.#redraw = options.redraw ?? 500
  }

  /** Takes the next bytes of the file; returns the lines that are ready. `now` in milliseconds. */
  take(data: Buffer, now: number): RankLine[] {
    const lines: RankLine[] = []
    this.#changedAt = now
    let from = 0
    for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF, from)) {
      const part = data.subarray(from, end)
      this.#pending = this.#pending.length === 0 ? part : Buffer.concat([this.#pending, part])
      this.#finish(lines)
      this.#start += 1
      this.#continued = false
      from = end + 1
    }
    if (from === data.length) return lines
    this.#pending = Buffer.concat([this.#pending, data.subarray(from)])
    const cr = this.#pending.indexOf(CR)
    const isDrawn = cr !== -1 && cr < this.#pending.length - 1 // one at the end may be the first half of CRLF
    if (this.#pending.length > LONGEST || (isDrawn && now - this.#shownAt >= this.#redraw)) this.#show(lines, now)
    return lines
  }

  /** To be called from time to time: an unfinished line is shown after a while of silence. */
  tick(now: number): RankLine[] {
    const lines: RankLine[] = []
    if (this.#pending.length > 0 && now - this.#changedAt >= this.#idle) this.#show(lines, now)
    return lines
  }

  /** The file has ended: what is left is a line. */
  end(): RankLine[] {
    const lines: RankLine[] = []
    if (this.#pending.length > 0) this.#finish(lines)
    return lines
  }

  #finish(lines: RankLine[]): void {
    let end = this.#pending.length
    while (end > 0 && this.#pending[end - 1] === CR) end--
    const begin = this.#pending.subarray(0, end).lastIndexOf(CR) + 1
    const text = this.#pending.toString('utf8', begin, end)
    const isKnown = this.#drawn === undefined ? this.#continued && text === '' : text === this.#drawn
    if (!isKnown) lines.push({...this.#source, offset: this.#start + begin, text})
    this.#forget(this.#pending.length)
    this.#drawn = undefined
  }

  /** Shows the unfinished line as it is now. */
  #show(lines: RankLine[], now: number): void {
    let end = this.#pending.length
    while (end > 0 && this.#pending[end - 1] === CR) end--
    const begin = this.#pending.subarray(0, end).lastIndexOf(CR) + 1
    const isDrawn = begin > 0 || end < this.#pending.length || this.#drawn !== undefined
    const whole = wholeCharacters(this.#pending.subarray(begin, end))
    const text = whole.toString('utf8')
    if (text !== '' && text !== this.#drawn)
      lines.push({...this.#source, offset: this.#start + begin, text, partial: true})
    this.#shownAt = now
    this.#continued = true
    if (isDrawn) {
      this.#drawn = text
      // Kept, so that the line's end finds its text: it may be what was shown.
      this.#forget(this.#pending.length > LONGEST ? this.#pending.length : begin)
    } else {
      this.#forget(whole.length)
    }
  }

  #forget(count: number): void {
    this.#pending = this.#pending.subarray(count)
    this.#start += count
  }
}

/** Without the beginning of a character whose rest is still to come. RFC 3629: at most 3 bytes of one are missing. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    const needs = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1
    return needs > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

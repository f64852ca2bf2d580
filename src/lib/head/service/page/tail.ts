import type {PageLines} from '../../types.ts'
import {logLines} from './log-lines.ts'
import {Topic} from './topics.ts'

/** What was read of a log's end, for those who follow it. */
interface Piece {
  from: number
  to: number
  html: string
  /** There will be more. */
  open: boolean
}

const MOST_PIECES = 60
/** Characters of all pieces: a line of the log that is empty is many of them. */
const MOST_KEPT = 8 * 1024 * 1024
const EVERY_MS = 1000

/**
 * A log that grows, read once for all who follow it. Each of them is at an offset of its own and gets every byte after that
 * once, in order: pieces that are kept, and what is older read anew.
 */
export class Tail {
  readonly #read: (from: number) => Promise<PageLines>
  readonly #topic: Topic<Piece | undefined>
  readonly #pieces: Piece[] = []
  #at = -1

  constructor(read: (from: number) => Promise<PageLines>, ended: () => void, everyMs = EVERY_MS) {
    this.#read = read
    this.#topic = new Topic(() => this.#grow(), everyMs, ended)
  }

  /** Hands on what comes after `from`. Gives what ends that. */
  follow(from: number, send: (piece: Piece) => void): () => void {
    let at = from
    let isBusy = false
    let isOver = false
    if (this.#at < 0) this.#at = from
    const step = async (): Promise<void> => {
      if (isBusy || isOver) return
      isBusy = true
      try {
        while (at < this.#at && !isOver) {
          const piece = this.#pieces.find((one) => one.from === at) ?? pieceOf(await this.#read(at))
          if (isOver || piece.to <= at) return
          at = piece.to
          send(piece)
        }
      } catch {
        // It is tried again at the next look, from the same offset.
      } finally {
        isBusy = false
      }
    }
    const end = this.#topic.watch(({value}) => {
      if (value && value.to === value.from && !value.open && at >= this.#at) {
        send({...value, from: at, to: at})
        end()
      } else void step()
    })
    void step()
    return () => {
      isOver = true
      end()
    }
  }

  async #grow(): Promise<Piece | undefined> {
    const piece = pieceOf(await this.#read(this.#at))
    if (piece.to > piece.from) {
      this.#pieces.push(piece)
      let kept = 0
      const last = this.#pieces.findLastIndex((one) => (kept += one.html.length) > MOST_KEPT)
      this.#pieces.splice(0, Math.max(last + 1, this.#pieces.length - MOST_PIECES))
      this.#at = piece.to
    }
    return piece
  }
}

function pieceOf({from, to, text, open}: PageLines): Piece {
  return {from, to, html: logLines(text).text, open}
}

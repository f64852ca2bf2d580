import {PassThrough} from 'node:stream'
import type {Context, Progress} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {EventFile} from '../protocol/index.ts'
import {eventsOn, type NodeEvents} from './find.ts'

/** Bytes that are carried at once, and held in memory. */
const PIECE_BYTES = 8 * 1024 * 1024

interface Range {
  file: EventFile
  offset: number
  bytes: number
}

/** Copies of other nodes' event files beside a board, which grow as those do. */
export class Mirror {
  readonly #board: string
  readonly #rank: number | undefined
  readonly #limit: number
  /** Bytes that the board's node has, by node and path. */
  readonly #have = new Map<string, number>()
  /** There was more than is to be copied. */
  isFull = false

  constructor(board: string, rank: number | undefined, limit: number) {
    this.#board = board
    this.#rank = rank
    this.#limit = limit
  }

  /**
   * Looks at a node, and copies what has been added there. Errors: those of the two nodes; what was copied before
   * stays.
   */
  async round(
    from: Host,
    runs: readonly string[],
    to: Host,
    context: Context,
    progress?: Progress,
  ): Promise<NodeEvents> {
    const found = await eventsOn(from, runs, this.#rank, context.signal)
    let done = 0
    const total = found.files.reduce((sum, file) => sum + this.#missing(file), 0)
    for (let group = this.#next(found.files); group.length > 0; group = this.#next(found.files)) {
      const {bytes} = await this.#carry(group, from, to, context)
      progress?.amount((done += bytes), total, 'bytes')
      if (bytes === 0) break
    }
    return found
  }

  #key(file: EventFile): string {
    return `${file.node} ${file.path}`
  }

  #missing(file: EventFile): number {
    return Math.max(0, file.bytes - (this.#have.get(this.#key(file)) ?? 0))
  }

  /** What is copied next: of as many files as fit. */
  #next(files: readonly EventFile[]): Range[] {
    const ranges: Range[] = []
    const there = [...this.#have.values()].reduce((sum, one) => sum + one, 0)
    let room = Math.min(PIECE_BYTES, this.#limit - there)
    for (const file of files) {
      const missing = this.#missing(file)
      if (missing > 0 && room <= 0 && this.#limit - there < PIECE_BYTES) this.isFull = true
      if (missing === 0 || room <= 0) continue
      const bytes = Math.min(missing, room)
      ranges.push({file, offset: file.bytes - missing, bytes})
      room -= bytes
    }
    return ranges
  }

  async #carry(ranges: Range[], from: Host, to: Host, context: Context): Promise<{bytes: number}> {
    const chunks: Buffer[] = []
    const {bytes} = await from.call(
      'board.read',
      {files: ranges.map(({file, offset, bytes: wanted}) => ({path: file.path, offset, bytes: wanted}))},
      {
        signal: context.signal,
        onEvent: ({data}) => chunks.push(Buffer.from(data, 'base64')),
      },
    )
    const body = new PassThrough()
    body.end(Buffer.concat(chunks))
    const pieces = ranges.map(({file, offset}, index) => ({file, offset, bytes: bytes[index] as number}))
    const {sizes} = await to.call('board.append', {id: this.#board, pieces}, {signal: context.signal, body})
    // A file that became shorter is another one; what was copied of the first is kept.
    for (const [index, {file}] of pieces.entries()) this.#have.set(this.#key(file), sizes[index] as number)
    return {bytes: bytes.reduce((sum, one) => sum + one, 0)}
  }
}

import {createHash} from 'node:crypto'
import {open} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, type Progress} from '../base/index.ts'
import {Slots} from '../ssh/index.ts'
import type {Delta} from './delta.ts'
import {DIGEST_DIGITS} from './entry.ts'

/** Bytes of a file that are read at once. */
const PIECE = 256 << 10
/**
 * Files of projects that this process has open at the same time, whatever the number of nodes; more than Node's four
 * threads for files would gain nothing. A file is open only while a piece of it is read from here, never while a node
 * takes that piece: so a node that is slow, or does not read at all, keeps no file open and none of these places.
 * Opening it again for every piece costs some 20 µs in 256 KiB.
 */
const READS = new Slots(8)

/**
 * The contents that a node lacks, one after the other, checked while they are read: what was looked at is what travels.
 */
export class Content {
  /** Why it ended early, if it did. */
  problem: CliError | undefined
  readonly #folder: string
  readonly #delta: Pick<Delta, 'send' | 'bytes'>
  readonly #progress: Pick<Progress, 'amount'>

  constructor(folder: string, delta: Pick<Delta, 'send' | 'bytes'>, progress: Pick<Progress, 'amount'>) {
    this.#folder = folder
    this.#delta = delta
    this.#progress = progress
  }

  async *read(): AsyncGenerator<Buffer> {
    let sent = 0
    for (const [digest, {path, size}] of this.#delta.send) {
      const sha = createHash('sha256')
      let left = size
      while (left > 0) {
        // One byte more than is due, to see whether it has grown.
        const piece = await readPiece(join(this.#folder, path), size - left, Math.min(PIECE, left + 1))
        if (piece.length === 0) break
        left -= piece.length
        if (left < 0) break
        sha.update(piece)
        sent += piece.length
        this.#progress.amount(sent, this.#delta.bytes, 'bytes')
        yield piece
      }
      if (left !== 0 || sha.digest('hex').slice(0, DIGEST_DIGITS) !== digest) {
        this.problem = new CliError('CONFLICT', `${path} changed while it was being read`, {
          hint: 'run the command again; if something writes this file all the time, exclude it in workspace.sync.exclude',
          details: {path, changing: true},
        })
        return // the node sees the end too early, and drops what has come
      }
    }
  }
}

/**
 * Up to `length` bytes from `position` on; none at its end, and where it cannot be read any more: that is told as a
 * change.
 */
async function readPiece(path: string, position: number, length: number): Promise<Buffer> {
  const release = await READS.take()
  try {
    const file = await open(path).catch(() => undefined)
    if (!file) return Buffer.alloc(0)
    try {
      const {bytesRead, buffer} = await file.read({buffer: Buffer.allocUnsafe(length), position})
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } finally {
    release()
  }
}

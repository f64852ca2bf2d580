import {statfs} from 'node:fs/promises'
import {Failure} from '../failure.ts'
import {Turns} from '../files/durable.ts'

const AGAIN_SECONDS = 30

/**
 * Of the floor: uploads stop at it, what else runs and people write goes on to here, and the rest is the head's own.
 */
const OF_WRITES = 0.5

/** What one upload may still write. */
export interface Promised {
  /** Throws 507 where the disk would be left with less than the floor. */
  add(bytes: number): Promise<void>
  release(): void
}

/**
 * Keeps a floor of each disk free for what the head itself has to write (tokens, locks, MLflow's own database): uploads
 * end before they fill it, and so do runs that log without end. What uploads under way have been promised counts as
 * used.
 */
export class Room {
  readonly #folders: string[]
  readonly #floor: number
  readonly #turns = new Turns()
  #promised = 0

  /** `floor` in bytes; on a small disk a tenth of it is enough. */
  constructor(folders: string[], floor: number) {
    this.#folders = folders
    this.#floor = floor
  }

  open(): Promised {
    let mine = 0
    let isOpen = true
    return {
      add: (bytes) =>
        this.#turns.take(async () => {
          if (!isOpen) return
          await this.#require(bytes)
          mine += bytes
          this.#promised += bytes
        }),
      release: () => {
        isOpen = false
        this.#promised -= mine
        mine = 0
      },
    }
  }

  /** For a write that is no upload, such as a metric: MLflow's database grows with each. Throws 507. */
  async requireWrite(bytes: number): Promise<void> {
    await this.#require(bytes, OF_WRITES)
  }

  async #require(bytes: number, share = 1): Promise<void> {
    for (const folder of this.#folders) {
      const disk = await statfs(folder)
      const free = disk.bavail * disk.bsize
      const floor = share * Math.min(this.#floor, (disk.blocks * disk.bsize) / 10)
      if (free - this.#promised - bytes >= floor) continue
      throw new Failure(
        507,
        'HEAD_FAILED',
        `the head's disk has ${free} bytes left, of which ${Math.ceil(floor)} stay free: there is no room for ${bytes} more`,
        {retry_after: AGAIN_SECONDS},
      )
    }
  }
}

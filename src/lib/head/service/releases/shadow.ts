import type {Readable} from 'node:stream'
import type {ShadowFigures} from '../../types.ts'
import {compareAnswers, type Kept} from './same-answer.ts'

/** Copies under way at once, and waiting for their turn, of all endpoints together: what is more is dropped. */
const MOST_UNDER_WAY = 8
const MOST_WAITING = 64
/** Bytes of requests and answers that wait or are under way. */
const MOST_BYTES = 16 * 1024 ** 2
/** A request or an answer that is larger is not copied, or not compared. */
export const LARGEST_COPIED = 1024 ** 2
const MOST_ENDPOINTS = 1000

/** A request that was answered, to be asked again of the release that answers nobody. */
export interface Copied {
  endpoint: string
  /** Which canary it is for: figures begin anew with another one. */
  since: string
  real: Kept
  /** Of the request. */
  bytes: number
  /** Undefined where that release is no more. */
  ask(): Promise<Kept | undefined>
}

/**
 * Copies of requests to a release that answers nobody. They are sent after the real answer, take what is left over of a
 * few connections, and are never sent twice: nobody waits for them.
 */
export class Shadows {
  readonly #figures = new Map<string, {since: string; figures: ShadowFigures}>()
  readonly #waiting: Copied[] = []
  #underWay = 0
  #bytes = 0

  offer(copied: Copied): void {
    const figures = this.#of(copied)
    const bytes = sizeOf(copied)
    if (this.#waiting.length >= MOST_WAITING || this.#bytes + bytes > MOST_BYTES) {
      figures.dropped++
      return
    }
    this.#bytes += bytes
    this.#waiting.push(copied)
    void this.#next()
  }

  /** Of this canary of the endpoint; undefined before its first copy. */
  figures(endpoint: string, since: string): ShadowFigures | undefined {
    const known = this.#figures.get(endpoint)
    return known?.since === since ? known.figures : undefined
  }

  forget(endpoint: string): void {
    this.#figures.delete(endpoint)
  }

  async #next(): Promise<void> {
    if (this.#underWay >= MOST_UNDER_WAY) return
    const copied = this.#waiting.shift()
    if (!copied) return
    this.#underWay++
    try {
      const compared = await copied.ask().then(
        (answer) => answer && compareAnswers(copied.real, answer),
        () => ({result: 'failed' as const}),
      )
      if (!compared) return
      const figures = this.#of(copied)
      figures.copied++
      figures[compared.result]++
      if (compared.result === 'different') figures.lastDifference = compared.at
    } finally {
      this.#underWay--
      this.#bytes -= sizeOf(copied)
      void this.#next()
    }
  }

  #of({endpoint, since}: Pick<Copied, 'endpoint' | 'since'>): ShadowFigures {
    const known = this.#figures.get(endpoint)
    if (known?.since === since) return known.figures
    const figures = {copied: 0, same: 0, different: 0, failed: 0, uncompared: 0, dropped: 0}
    if (this.#figures.size >= MOST_ENDPOINTS) this.#figures.delete(this.#figures.keys().next().value!)
    this.#figures.set(endpoint, {since, figures})
    return figures
  }
}

function sizeOf({bytes, real}: Copied): number {
  return bytes + (real.body?.length ?? 0)
}

/** An answer as it comes, kept up to LARGEST_COPIED bytes. */
export class Collected {
  #chunks: Buffer[] = []
  #size = 0

  add(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size <= LARGEST_COPIED) this.#chunks.push(chunk)
    else this.#chunks = []
  }

  /** Undefined where it was too large. */
  get kept(): Buffer | undefined {
    return this.#size <= LARGEST_COPIED ? Buffer.concat(this.#chunks) : undefined
  }
}

/** Reads an answer to its end, and keeps what Collected keeps. */
export async function keep(body: Readable): Promise<Buffer | undefined> {
  const collected = new Collected()
  for await (const chunk of body as AsyncIterable<Buffer>) collected.add(chunk)
  return collected.kept
}

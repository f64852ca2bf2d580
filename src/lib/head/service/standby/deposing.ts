import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import type {HeadFormer} from '../../../protocol/index.ts'
import {HEAD_FILES} from '../../types.ts'
import {readDurable} from '../files/durable.ts'
import {logLine} from '../log.ts'
import {Dismissed, FirstHead} from './first-head.ts'
import {SUPERSEDED_PATH} from './superseded.ts'

/** For little longer than both a head that comes back serves what it knew. Milliseconds. */
const EVERY_MS = 500
/** A machine that is off refuses nothing: nobody waits there for when it comes back. */
const PATIENCE_MS = 3000

/**
 * A head that was a standby tells the one that it followed, until that has heard it: the node that was lost may come back
 * with a head that knows nothing of the change. It is called as it was when it was followed, by the same token.
 */
export class Deposing {
  readonly #folder: string
  readonly #former: HeadFormer
  readonly #first: FirstHead
  readonly #ended = new AbortController()

  private constructor(folder: string, former: HeadFormer) {
    this.#folder = folder
    this.#former = former
    this.#first = new FirstHead(former, former.ca, PATIENCE_MS)
  }

  /** Undefined where it took over from nobody, or that head has heard it. */
  static async open(folder: string): Promise<Deposing | undefined> {
    const former = await readDurable<HeadFormer | undefined>('head.former', fileOf(folder), undefined)
    return former && new Deposing(folder, former)
  }

  /** It follows another head from here on. */
  static async forget(folder: string): Promise<void> {
    await rm(fileOf(folder), {force: true})
  }

  /** Until it was heard, or end(). `url`: where this head answers. */
  start(url: () => string): void {
    void this.#tell(url)
  }

  end(): void {
    this.#ended.abort()
    this.#first.close()
  }

  async #tell(url: () => string): Promise<void> {
    const {token, node, url: former} = this.#former
    const {signal} = this.#ended
    while (!signal.aborted) {
      try {
        await this.#first.ask(SUPERSEDED_PATH, token, {url: url()})
        logLine(`the head of before, on ${node} (${former}), has stepped down`)
        return await this.#over()
      } catch (error) {
        if (error instanceof Dismissed) {
          logLine(`what answers on ${node} (${former}) does not know this head any more: it is told nothing`)
          return await this.#over()
        }
      }
      await pause(EVERY_MS, undefined, {signal}).catch(() => {})
    }
  }

  async #over(): Promise<void> {
    this.#first.close()
    // Where it stays there it is told once more, at the next start.
    await Deposing.forget(this.#folder).catch((error: Error) => logLine(error.message))
  }
}

function fileOf(folder: string): string {
  return join(folder, HEAD_FILES.former)
}

import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {FastifyRequest} from 'fastify'
import type {HeadSuperseded} from '../../../protocol/index.ts'
import {HEAD_FILES} from '../../types.ts'
import {readDurable, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import {logLine} from '../log.ts'

/** Where a head is told that its standby is the head from here on, by that standby's token. */
export const SUPERSEDED_PATH = '/flexrack/v1/follow/superseded'
/** Where the admin has a head that has stepped down be the head again. */
export const RESUMED_PATH = '/flexrack/v1/superseded'
/** What says how it is, and what tells it: the rest is another head's. */
const OPEN = new Set(['/flexrack/v1/status', SUPERSEDED_PATH, RESUMED_PATH])

/**
 * Whether this head has stepped down: its standby was made the head while it was away. It then answers nothing but how
 * it is, also when it is started again, so that nobody gets what was valid before, or changes what nobody reads.
 */
export class Superseded {
  readonly #folder: string
  #record: HeadSuperseded | undefined
  #tell = (): void => {}
  #tellOver = (): void => {}

  private constructor(folder: string, record: HeadSuperseded | undefined) {
    this.#folder = folder
    this.#record = record
  }

  static async open(folder: string): Promise<Superseded> {
    const record = await readDurable<HeadSuperseded | undefined>(
      'head.superseded',
      join(folder, HEAD_FILES.superseded),
      undefined,
    )
    return new Superseded(folder, record)
  }

  /** By whom, and since when; undefined: it is the head. */
  get record(): HeadSuperseded | undefined {
    return this.#record
  }

  /** Told once it steps down, to end what it decides. */
  whenSo(tell: () => void): void {
    this.#tell = tell
  }

  /** Told once it may be the head again, which it is when it is started next. */
  whenOver(tell: () => void): void {
    this.#tellOver = tell
  }

  /** The admin wants it to be the head again, with what it knew. */
  async over(): Promise<void> {
    await Superseded.forget(this.#folder)
    if (this.#record) this.#tellOver()
  }

  /** Refuses from here on, and keeps it on disk; where that fails its caller comes again. */
  async by(node: string, url: string): Promise<void> {
    if (!this.#record) {
      this.#record = {node, url, at: new Date().toISOString()}
      logLine(this.#message())
      this.#tell()
    }
    await writeDurably('head.superseded', join(this.#folder, HEAD_FILES.superseded), this.#record)
  }

  /** It is the head, or a standby, when it is started next. */
  static async forget(folder: string): Promise<void> {
    await rm(join(folder, HEAD_FILES.superseded), {force: true})
  }

  /** Throws where another head serves endpoints. */
  requireServing(): void {
    if (this.#record) throw new Failure(503, 'HEAD_FAILED', this.#message())
  }

  /** The same of everything else: what is logged waits for a head that keeps it (503), a change is refused (421). */
  requireRoute({routeOptions}: FastifyRequest): void {
    const route = routeOptions.url ?? ''
    if (!this.#record || OPEN.has(route)) return
    if (!route.startsWith('/flexrack/')) this.requireServing()
    throw new Failure(421, 'REFUSED', this.#message())
  }

  #message(): string {
    const {node, url, at} = this.#record!
    return `this head has stepped down: ${node} (${url}) was made the head of the rack while it was away, of which it heard at ${at}`
  }
}

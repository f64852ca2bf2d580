import {Failure} from '../failure.ts'
import {logLine} from '../log.ts'

/** What is looked at again and again while somebody watches: one look for all who watch the same. */
export interface Seen<T> {
  value: T | undefined
  /** When it was seen; milliseconds since 1970. */
  at: number
  /** Why it could not be looked at the last time. */
  error: string | undefined
}

/** Watched by a page that was loaded and has no stream (yet), for so long. Milliseconds. */
const LINGER_MS = 15_000
/** After a look that failed. */
const PAUSE_MS = 2000
/** What a page that is loaded shows at once, though it is older than the next look would be. */
const FRESH_MS = 5000

/** One thing that is watched. */
export class Topic<T> {
  readonly #look: () => Promise<T>
  readonly #everyMs: number
  readonly #watchers = new Set<(seen: Seen<T>) => void>()
  readonly #ended: () => void
  #seen: Seen<T> = {value: undefined, at: 0, error: undefined}
  #until = 0
  #running = false
  #first: Promise<void> | undefined
  /** Resolved by the first look that begins after it was asked for. */
  #renewed: PromiseWithResolvers<void> | undefined
  #looking: PromiseWithResolvers<void> | undefined
  #wake: () => void = () => {}

  constructor(look: () => Promise<T>, everyMs: number, ended: () => void) {
    this.#look = look
    this.#everyMs = everyMs
    this.#ended = ended
  }

  get seen(): Seen<T> {
    return this.#seen
  }

  /** For a page that is being loaded: what was seen lately, or a first look. */
  async fresh(): Promise<Seen<T>> {
    this.#until = Date.now() + LINGER_MS
    return this.#lately()
  }

  /**
   * The same of a page that is nothing without it and does not go on looking: one look for all who ask within its time.
   * Errors: 404 with why it could not be looked at.
   */
  async need(): Promise<T> {
    const {value, error} = await this.#lately()
    if (value === undefined) throw new Failure(404, 'NOT_FOUND', error ?? 'it is not known yet')
    return value
  }

  async #lately(): Promise<Seen<T>> {
    const isOld = Date.now() - this.#seen.at > Math.max(FRESH_MS, this.#everyMs * 2)
    this.#start()
    if (isOld) await this.#first
    await (this.#renewed ?? this.#looking)?.promise
    return this.#seen
  }

  /** Has `tell` called after every look. Gives what ends that. */
  watch(tell: (seen: Seen<T>) => void): () => void {
    this.#watchers.add(tell)
    this.#start()
    return () => {
      this.#watchers.delete(tell)
    }
  }

  /** Something was changed: what was seen before counts no more, and it is looked at now. */
  renew(): void {
    this.#renewed ??= Promise.withResolvers()
    this.#wake()
    this.#start()
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    const first = Promise.withResolvers<void>()
    this.#first = first.promise
    void this.#run(first.resolve)
  }

  async #run(looked: () => void): Promise<void> {
    do {
      const began = Date.now()
      const renewed = this.#renewed
      this.#looking = renewed
      this.#renewed = undefined
      try {
        this.#seen = {value: await this.#look(), at: Date.now(), error: undefined}
      } catch (error) {
        if (!(error instanceof Failure)) logLine(`the page: ${(error as Error).stack ?? String(error)}`)
        this.#seen = {...this.#seen, error: (error as Error).message}
      }
      looked()
      renewed?.resolve()
      this.#looking = undefined
      for (const tell of this.#watchers) tell(this.#seen)
      const pause = this.#seen.error === undefined ? this.#everyMs : PAUSE_MS
      if (!this.#renewed)
        await new Promise<void>((resolve) => {
          this.#wake = resolve
          setTimeout(resolve, Math.max(50, pause - (Date.now() - began))).unref()
        })
    } while (this.#renewed || this.#watchers.size > 0 || Date.now() < this.#until)
    this.#running = false
    this.#ended()
  }
}

/** All that is watched, by name. */
export class Topics {
  readonly #topics = new Map<string, Topic<unknown>>()

  open<T>(name: string, everyMs: number, look: () => Promise<T>): Topic<T> {
    const found = this.#topics.get(name) as Topic<T> | undefined
    if (found) return found
    const topic = new Topic<T>(look, everyMs, () => this.#topics.delete(name))
    this.#topics.set(name, topic as Topic<unknown>)
    return topic
  }

  /** Has all looked at anew. */
  renew(): void {
    for (const topic of this.#topics.values()) topic.renew()
  }
}

import {logLine} from '../log.ts'
import {Html} from './html.ts'
import type {Seen, Topic} from './topics.ts'

/** Elements of a page, by their ids; of one whose children come and go, their ids in order. */
export type Parts = Record<string, Html | readonly string[]>
type Sent = string | readonly string[]

/** What a page has that changes. */
export interface LiveParts {
  /** As it was seen last; undefined where it was not yet. */
  now(): Parts | undefined
  /** Has `tell` called after every look. Gives what ends that. */
  watch(tell: (parts: Parts) => void): () => void
}

/**
 * What is looked at, and the elements that are made of it. What nodes and runs tell may be of any shape: where it cannot be
 * drawn nothing is told, as no request is there to fail, and the head serves more than this page.
 */
export function liveParts<T>(topic: Topic<T>, parts: (seen: Seen<T>) => Parts): LiveParts {
  let said = ''
  const drawn = (seen: Seen<T>): Parts | undefined => {
    try {
      return parts(seen)
    } catch (error) {
      const {stack = '', message} = error as Error
      if (said !== message) logLine(`the page: ${stack}`)
      said = message
      return undefined
    }
  }
  return {
    now: () => (topic.seen.at > 0 ? drawn(topic.seen) : undefined),
    watch: (tell) =>
      topic.watch((seen) => {
        const now = drawn(seen)
        if (now) tell(now)
      }),
  }
}

/** A message of the stream, as bytes: all who watch are sent the same ones, which are made once. */
export function eventOf(message: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
}

/** One page that some watch: its elements are drawn once a look, however many watch, and only those that changed are sent. */
class LivePage {
  readonly #page: string
  readonly #live: LiveParts
  readonly #watchers = new Set<(message: Buffer) => void>()
  readonly #last = new Map<string, Sent>()
  #unwatch: (() => void) | undefined

  constructor(page: string, live: LiveParts) {
    this.#page = page
    this.#live = live
  }

  watch(send: (message: Buffer) => void): () => void {
    if (this.#watchers.size === 0) this.#unwatch = this.#live.watch((parts) => this.#tell(parts))
    this.#watchers.add(send)
    // Who comes later than the others has nothing yet.
    const now = this.#live.now()
    if (now) {
      this.#keep(now)
      send(eventOf({page: this.#page, parts: Object.fromEntries(this.#last)}))
    }
    return () => {
      this.#watchers.delete(send)
      if (this.#watchers.size === 0) this.#unwatch?.()
    }
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0
  }

  #tell(now: Parts): void {
    const changed = this.#keep(now)
    if (changed.length === 0) return
    const message = eventOf({page: this.#page, parts: Object.fromEntries(changed)})
    for (const send of this.#watchers) send(message)
  }

  /** Gives those that are others than before. */
  #keep(now: Parts): [string, Sent][] {
    const parts = Object.entries(now).map(([id, part]): [string, Sent] => [id, part instanceof Html ? part.text : part])
    const changed = parts.filter(([id, part]) => String(this.#last.get(id)) !== String(part))
    this.#last.clear()
    for (const [id, part] of parts) this.#last.set(id, part)
    return changed
  }
}

/** All pages that are watched, by who sees the same and their address. */
export class LivePages {
  readonly #pages = new Map<string, LivePage>()

  /** Has `send` told of what changes, from now on with everything there is. Gives what ends that. */
  watch(view: string, page: string, live: LiveParts, send: (message: Buffer) => void): () => void {
    const name = `${view} ${page}`
    const found = this.#pages.get(name) ?? new LivePage(page, live)
    this.#pages.set(name, found)
    const end = found.watch(send)
    return () => {
      end()
      if (!found.isWatched) this.#pages.delete(name)
    }
  }
}

import type {Entry} from './audit.ts'

const WITHIN_MS = 60_000
/** More kinds of refusals within a minute are counted together. */
const MOST_KINDS = 200

/** Refusals that come again and again: who is refused must not be able to fill the disk. */
export class Repeats {
  readonly #counted = new Map<string, {entry: Entry; times: number}>()
  readonly #tell: (entry: Entry) => void
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (entry: Entry) => void) {
    this.#tell = tell
  }

  /** Whether it was not told within this minute; else it is counted. */
  isNew(entry: Entry): boolean {
    this.#timer ??= setTimeout(() => this.end(), WITHIN_MS).unref()
    const key = JSON.stringify([entry.who, entry.action, entry.target])
    const known = this.#counted.get(key) ?? (this.#counted.size < MOST_KINDS ? undefined : this.#others(entry))
    if (known) known.times += 1
    else this.#counted.set(key, {entry, times: 0})
    return !known
  }

  /** Tells of all that were counted. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counted = [...this.#counted.values()]
    this.#counted.clear()
    for (const {entry, times} of counted) if (times > 0) this.#tell({...entry, times})
  }

  #others(entry: Entry): {entry: Entry; times: number} {
    const others = this.#counted.get('') ?? {entry: {...entry, who: 'several', target: 'several'}, times: 0}
    this.#counted.set('', others)
    return others
  }
}

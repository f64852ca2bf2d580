import type {Entry} from './audit.ts'

const WITHIN_MS = 60_000
/** More kinds of refusals within a minute are counted together: of one who is refused, and of all. */
const MOST_OF_ONE = 20
const MOST_KINDS = 200

interface Counted {
  entry: Entry
  times: number
}

/** Refusals that come again and again: who is refused must not be able to fill the disk. */
export class Repeats {
  readonly #counted = new Map<string, Counted>()
  readonly #tell: (entry: Entry) => void
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (entry: Entry) => void) {
    this.#tell = tell
  }

  /** Whether it was not told within this minute; else it is counted. */
  isNew(entry: Entry): boolean {
    this.#timer ??= setTimeout(() => this.end(), WITHIN_MS).unref()
    const key = JSON.stringify([entry.who, entry.action, entry.target])
    const known = this.#counted.get(key) ?? this.#together(entry)
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

  /** What a new kind is counted with, where there are many already: nobody who is refused hides others, or fills the log. */
  #together(entry: Entry): Counted | undefined {
    const {who} = entry
    const ofOne = [...this.#counted.values()].filter((one) => one.entry.who === who).length
    if (ofOne > MOST_OF_ONE) return this.#several(JSON.stringify([who]), {...entry, target: 'several'})
    if (this.#counted.size >= MOST_KINDS) return this.#several('', {...entry, who: 'several', target: 'several'})
    return undefined
  }

  #several(key: string, entry: Entry): Counted {
    const several = this.#counted.get(key) ?? {entry, times: 0}
    this.#counted.set(key, several)
    return several
  }
}

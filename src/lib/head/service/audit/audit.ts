import {mkdir, open, readdir, rename, rm, stat, truncate} from 'node:fs/promises'
import {join} from 'node:path'
import {stamped, textIfThere} from '../../../base/index.ts'
import {FIRST_HASH, link, readLink} from '../../../chain/index.ts'
import type {HeadAudit} from '../../../protocol/index.ts'
import {syncFolder, Turns} from '../files/durable.ts'
import {formerActions} from './former.ts'
import {Repeats} from './repeats.ts'

/** What somebody did, or was refused. */
export type Entry = Omit<HeadAudit, 'seq' | 'before' | 'at'> & {at?: number}

/** The last line: its number, hash and file, and how long that is. */
interface End {
  seq: number
  hash: string
  segment: number
  bytes: number
}

/** A file is closed at this size, and the next one goes on. */
const SEGMENT_BYTES = 1024 * 1024
/** The oldest one is let go where there are more, and it has not been written to for so long. */
const KEPT_SEGMENTS = 64
const KEPT_MS = 30 * 24 * 3_600_000
/** It is let go in any case where there are more. Who may change something fills as many in a month at most: pace.ts. */
const MOST_SEGMENTS = 1024

/**
 * Who changed what, and who was refused: lines that are only ever added, each with the hash of the one before, in files
 * of at most a MiB. What is noted is on disk before its answer goes out.
 */
export class Audit {
  readonly #folder: string
  readonly #turns = new Turns()
  readonly #repeats = new Repeats((entry) => void this.note(entry).catch(() => {}))
  #last: End

  private constructor(folder: string, last: End) {
    this.#folder = folder
    this.#last = last
  }

  /** A line that a killed head wrote half is cut off, and a line says so. What `actions.jsonl` of before has comes first. */
  static async open(head: string): Promise<Audit> {
    const folder = join(head, 'audit')
    await mkdir(folder, {recursive: true, mode: 0o700})
    const numbers = await segmentsIn(folder)
    const segment = numbers.at(-1) ?? 1
    const file = fileOf(folder, segment)
    const text = (await textIfThere(file)) ?? ''
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    if (whole !== text) await truncate(file, Buffer.byteLength(whole))
    // A head that was killed as it began a file has left an empty one.
    const read = lastRead(whole) ?? (await lastBefore(folder, numbers.slice(0, -1)))
    const audit = new Audit(folder, {
      seq: read?.seq ?? 0,
      hash: read?.hash ?? FIRST_HASH,
      segment,
      bytes: Buffer.byteLength(whole),
    })
    if (whole !== text)
      await audit.note({
        who: 'head',
        action: 'audit.mend',
        target: `line ${audit.#last.seq + 1}`,
        outcome: 'half a line, of a head that was killed, was cut off',
      })
    for (const entry of await formerActions(head)) await audit.note(entry)
    await rename(join(head, 'actions.jsonl'), join(folder, 'actions-before.jsonl')).catch(() => {})
    return audit
  }

  /** On disk when this resolves. */
  note(entry: Entry): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#last.bytes >= SEGMENT_BYTES) await this.#begin()
      await this.#append(entry)
    })
  }

  /** The same refusal again within a minute is counted, and told once more with its number. */
  refused(entry: Entry): Promise<void> {
    return this.#repeats.isNew(entry) ? this.note(entry) : Promise.resolve()
  }

  /** The newest first. */
  async newest(most: number): Promise<HeadAudit[]> {
    const found: HeadAudit[] = []
    for (const number of (await segmentsIn(this.#folder)).toReversed()) {
      const lines = (await this.segment(number)).split('\n').slice(0, -1).toReversed()
      for (const line of lines) {
        const read = readLink<HeadAudit>(line)
        if (read) found.push(read)
        if (found.length === most) return found
      }
    }
    return found
  }

  /** The files that are kept, the oldest first. */
  async segments(): Promise<{number: number; bytes: number}[]> {
    const numbers = await segmentsIn(this.#folder)
    return Promise.all(
      numbers.map(async (number) => ({number, bytes: (await stat(fileOf(this.#folder, number))).size})),
    )
  }

  /** Its lines as they are; empty where there is none. */
  async segment(number: number): Promise<string> {
    return (await textIfThere(fileOf(this.#folder, number))) ?? ''
  }

  /** Tells of what was counted. */
  async close(): Promise<void> {
    this.#repeats.end()
    await this.#turns.take(() => Promise.resolve())
  }

  async #append(entry: Entry): Promise<void> {
    const {seq, hash: before, segment, bytes} = this.#last
    const {line, hash} = link(stamped('head.audit', {seq: seq + 1, at: Date.now(), ...entry, before}))
    const text = `${line}\n`
    const handle = await open(fileOf(this.#folder, segment), 'a', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } catch (error) {
      await handle.truncate(bytes).catch(() => {}) // a full disk: no half line stays before the next one
      throw error
    } finally {
      await handle.close()
    }
    this.#last = {seq: seq + 1, hash, segment, bytes: bytes + Buffer.byteLength(text)}
  }

  async #begin(): Promise<void> {
    this.#last = {...this.#last, segment: this.#last.segment + 1, bytes: 0}
    const numbers = await segmentsIn(this.#folder)
    for (const [at, number] of numbers.entries()) {
      const left = numbers.length + 1 - at
      if (left <= KEPT_SEGMENTS || (left <= MOST_SEGMENTS && !(await this.#isOld(number)))) break
      const last = lastRead(await this.segment(number))
      await this.#append({
        who: 'head',
        action: 'audit.forget',
        target: `lines up to ${last?.seq ?? '?'}`,
        outcome: `the last one was ${last?.hash ?? 'not readable'}`,
      })
      await rm(fileOf(this.#folder, number), {force: true})
    }
    await syncFolder(this.#folder)
  }

  async #isOld(number: number): Promise<boolean> {
    return Date.now() - (await stat(fileOf(this.#folder, number))).mtimeMs > KEPT_MS
  }
}

/** The last line that can be read: what is after it somebody else has written, and the check says so. */
function lastRead(text: string): {seq: number; hash: string} | undefined {
  for (const line of text.split('\n').toReversed()) {
    const read = readLink(line)
    if (read) return read
  }
  return undefined
}

async function lastBefore(
  folder: string,
  numbers: readonly number[],
): Promise<{seq: number; hash: string} | undefined> {
  for (const number of numbers.toReversed()) {
    const read = lastRead((await textIfThere(fileOf(folder, number))) ?? '')
    if (read) return read
  }
  return undefined
}

async function segmentsIn(folder: string): Promise<number[]> {
  const numbers = (await readdir(folder)).flatMap((name) => {
    const [, number] = /^(\d{6})\.jsonl$/.exec(name) ?? []
    return number === undefined ? [] : [Number(number)]
  })
  return numbers.sort((a, b) => a - b)
}

function fileOf(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(6, '0')}.jsonl`)
}

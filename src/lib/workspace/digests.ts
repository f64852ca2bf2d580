import {createHash, hash} from 'node:crypto'
import {createReadStream, readFileSync, type Stats} from 'node:fs'
import {mkdir, readFile, rename, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setImmediate} from 'node:timers/promises'
import {isCurrent, stamped, throwIfInterrupted, userPaths, type Context} from '../base/index.ts'
import {DIGEST_DIGITS} from './entry.ts'
import {unreadable} from './scan.ts'

/** size, mtime, ctime (ms), inode, digest */
type Known = [number, number, number, number, string]

/** Larger files are read in pieces. Bytes. */
const SMALL = 1 << 20
/**
 * A file that was written this shortly before it was read may be written again without its times showing it.
 * Milliseconds.
 */
const RACY_MS = 2000

/**
 * Content digests of files by path, through a cache on disk: a file with the size, times and inode of last time is not
 * read. Files that go away meanwhile, or cannot be read, are CHECK_FAILED.
 */
export async function digestFiles(
  folder: string,
  files: Map<string, Stats>,
  context: Context,
): Promise<Map<string, string>> {
  const cache = join(userPaths(context.env).cache, 'digests', `${hash('sha256', folder).slice(0, 16)}.json`)
  const known = await readCache(cache)
  const next: Record<string, Known> = {}
  const digests = new Map<string, string>()
  const reading = new Reading(context, files.size)
  let changed = false
  for (const [path, stats] of files) {
    const old = known[path]
    const isKnown =
      old !== undefined &&
      old[0] === stats.size &&
      old[1] === stats.mtimeMs &&
      old[2] === stats.ctimeMs &&
      old[3] === stats.ino
    const digest = isKnown ? old[4] : await reading.read(folder, path, stats)
    digests.set(path, digest)
    if (stats.ctimeMs < reading.startedAt - RACY_MS)
      next[path] = [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino, digest]
    changed ||= !isKnown && next[path] !== undefined
  }
  reading.end()
  if (changed || Object.keys(known).length !== Object.keys(next).length) await writeCache(cache, next)
  return digests
}

/** Reads files one after the other, and says so once it takes a while. */
class Reading {
  readonly startedAt = Date.now()
  readonly #context: Context
  readonly #total: number
  #progress: ReturnType<Context['reporter']['begin']> | undefined
  #count = 0

  constructor(context: Context, total: number) {
    this.#context = context
    this.#total = total
  }

  async read(folder: string, path: string, stats: Stats): Promise<string> {
    this.#count++
    if (this.#count % 100 === 0) {
      await setImmediate()
      throwIfInterrupted(this.#context.signal)
      if (Date.now() - this.startedAt > 500) this.#progress ??= this.#context.reporter.begin('Read the project')
      this.#progress?.amount(this.#count, this.#total, 'files')
    }
    try {
      const file = join(folder, path)
      return (stats.size <= SMALL ? hash('sha256', readFileSync(file)) : await this.#readLarge(file)).slice(
        0,
        DIGEST_DIGITS,
      )
    } catch (error) {
      this.#progress?.fail()
      throwIfInterrupted(this.#context.signal)
      throw unreadable(path, error)
    }
  }

  async #readLarge(file: string): Promise<string> {
    const sha = createHash('sha256')
    for await (const chunk of createReadStream(file, {highWaterMark: SMALL, signal: this.#context.signal}))
      sha.update(chunk as Buffer)
    return sha.digest('hex')
  }

  end(): void {
    this.#progress?.done()
  }
}

async function readCache(file: string): Promise<Record<string, Known>> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as {files?: Record<string, Known>}
    return isCurrent('project.digests', value) && value.files ? Object.assign(Object.create(null), value.files) : {}
  } catch {
    return {} // absent, or cut short: it can be made again
  }
}

/** A cache that cannot be written is no reason to fail. */
async function writeCache(file: string, files: Record<string, Known>): Promise<void> {
  try {
    await mkdir(join(file, '..'), {recursive: true, mode: 0o700})
    const beside = `${file}.${process.pid}`
    await writeFile(beside, JSON.stringify(stamped('project.digests', {files})), {mode: 0o600})
    await rename(beside, file)
  } catch {
    // the next time reads everything again
  }
}

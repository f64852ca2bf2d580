import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, renameSync, statSync, writeFileSync} from 'node:fs'
import {readdir, readFile, rm} from 'node:fs/promises'
import {hostname} from 'node:os'
import {dirname, join, resolve} from 'node:path'
import {setImmediate} from 'node:timers/promises'
import {
  CliError,
  current,
  hashFile,
  isCurrent,
  stamped,
  throwIfInterrupted,
  userPaths,
  withFileLock,
  type Context,
} from '../base/index.ts'
import type {DataFile, DataManifest} from '../protocol/index.ts'
import {Blobs} from './blobs.ts'
import {filesBelow} from './files-below.ts'

/** size, mtime, ctime (ms), inode, SHA-256 */
type Known = [number, number, number, number, string]

/**
 * A file that was written this shortly before it was read may be written again without its times showing it.
 * Milliseconds.
 */
const RACY_MS = 2000
const FILES_PER_TURN = 200
const LOCK_WAIT_MS = 24 * 3600_000
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/

/** What `data add` did. */
export interface Added {
  name: string
  digest: string
  files: number
  bytes: number
  /** Bytes of contents that were not kept yet. */
  newBytes: number
  /** The newest version was this one already. */
  same: boolean
}

/**
 * The data sets of this machine: the contents of every version, each once, and what each version is made of. Nodes get
 * theirs from here, so what they drop can come again.
 */
export class DataStore {
  readonly #folder: string
  readonly #blobs: Blobs
  readonly #cache: string
  readonly #context: Context

  constructor(context: Context) {
    const paths = userPaths(context.env)
    this.#folder = join(paths.state, 'data')
    this.#blobs = new Blobs(join(this.#folder, 'blobs'))
    this.#cache = join(paths.cache, 'data')
    this.#context = context
  }

  /** Where a content lies. */
  blob(digest: string): string {
    return this.#blobs.path(digest)
  }

  /**
   * Keeps what a folder has now as the newest version of `name`: contents are cloned where the file system can, else
   * copied; a file that is as it was the last time is not read. Errors: USAGE (name), NOT_FOUND, CHECK_FAILED (nothing
   * in it, a link to a folder, a name that is not UTF-8), CONFLICT (changes meanwhile), LOCKED.
   */
  async add(from: string, name: string): Promise<Added> {
    if (!NAME.test(name))
      throw new CliError('USAGE', `"${name}" cannot be the name of a data set`, {
        hint: 'use 1 to 40 lower-case letters, digits, dots, dashes and underscores',
      })
    const folder = resolve(from)
    if (!statSync(folder, {throwIfNoEntry: false})?.isDirectory())
      throw new CliError('NOT_FOUND', `${folder} is not a folder`, {details: {path: folder}})
    return this.#alone(() => this.#addAll(folder, name))
  }

  async #addAll(folder: string, name: string): Promise<Added> {
    const found = await filesBelow(folder, this.#context.signal)
    if (found.size === 0) throw new CliError('CHECK_FAILED', `${folder} has no files`, {details: {path: folder}})
    const before = await this.#known(folder)
    const next: Record<string, Known> = {}
    const files: DataFile[] = []
    const progress = this.#context.reporter.begin(`Keep ${name}`)
    const startedAt = Date.now()
    let newBytes = 0
    let count = 0
    try {
      for (const [path, stats] of found) {
        if (++count % FILES_PER_TURN === 0) {
          await setImmediate()
          throwIfInterrupted(this.#context.signal)
          progress.amount(count, found.size, 'files')
        }
        const old = before[path]
        const isKnown =
          old !== undefined &&
          old[0] === stats.size &&
          old[1] === stats.mtimeMs &&
          old[2] === stats.ctimeMs &&
          old[3] === stats.ino &&
          existsSync(this.blob(old[4]))
        const kept = isKnown ? {digest: old[4], bytes: 0} : await this.#blobs.keep(join(folder, path), stats)
        newBytes += kept.bytes
        if (stats.ctimeMs < startedAt - RACY_MS)
          next[path] = [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino, kept.digest]
        files.push([path, (stats.mode & 0o100) !== 0, stats.size, kept.digest])
      }
    } catch (error) {
      progress.fail()
      throw error
    }
    progress.done()
    files.sort((a, b) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])))
    const digest = digestOf(files)
    const bytes = files.reduce((sum, [, , size]) => sum + size, 0)
    const [newest] = await this.versions(name)
    const same = newest?.digest === digest
    if (!same)
      this.#write(
        join(this.#folder, 'versions', name, `${digest}.json`),
        stamped('data.version', {name, digest, at: Date.now() / 1000, source: `${hostname()}:${folder}`, bytes, files}),
      )
    this.#write(this.#statsFile(folder), stamped('data.stats', {files: next}))
    return {name, digest, files: files.length, bytes, newBytes, same}
  }

  /** Names of all data sets. */
  async names(): Promise<string[]> {
    const found = await readdir(join(this.#folder, 'versions')).catch(() => [])
    return found.filter((name) => NAME.test(name)).sort()
  }

  /** Versions of a data set, newest first. */
  async versions(name: string): Promise<DataManifest[]> {
    const folder = join(this.#folder, 'versions', name)
    const files = (await readdir(folder).catch(() => [])).filter((file) => /^[0-9a-f]{64}\.json$/.test(file))
    const all = await Promise.all(
      files.map(async (file) =>
        current<DataManifest>(
          'data.version',
          JSON.parse(await readFile(join(folder, file), 'utf8')),
          join(folder, file),
        ),
      ),
    )
    return all.sort((a, b) => b.at - a.at)
  }

  /**
   * The version that NAME or NAME@DIGEST (its beginning) means. Errors: NOT_FOUND, USAGE where several begin like that.
   */
  async find(word: string): Promise<DataManifest> {
    const [name = '', beginning = ''] = word.split('@', 2)
    const all = NAME.test(name) ? await this.versions(name) : []
    const fitting = all.filter(({digest}) => digest.startsWith(beginning))
    const [found] = fitting
    if (!found) {
      const hint = all.length > 0 ? `flexrack data show ${name}` : 'flexrack data add FOLDER NAME\nflexrack data list'
      throw new CliError(
        'NOT_FOUND',
        all.length > 0 ? `${name} has no version ${beginning}` : `there is no data set ${name} on this machine`,
        {hint, details: {name}},
      )
    }
    if (word.includes('@') && fitting.length > 1)
      throw new CliError('USAGE', `${fitting.length} versions of ${name} begin with ${beginning}`, {
        hint: `flexrack data show ${name}`,
      })
    return found
  }

  /**
   * Forgets a version, and what of it no other one has. Waits for an `add`: what that has kept belongs to no version
   * before its end. Errors: LOCKED, INTERRUPTED.
   */
  remove(version: DataManifest): Promise<{bytes: number}> {
    return this.#alone(() => this.#forget(version))
  }

  async #forget({name, digest}: DataManifest): Promise<{bytes: number}> {
    const folder = join(this.#folder, 'versions', name)
    await rm(join(folder, `${digest}.json`), {force: true})
    if ((await readdir(folder).catch(() => [''])).length === 0) await rm(folder, {recursive: true, force: true})
    const wanted = new Set<string>()
    for (const one of await this.names())
      for (const version of await this.versions(one)) for (const [, , , content] of version.files) wanted.add(content)
    return {bytes: await this.#blobs.dropAllBut(wanted)}
  }

  /** Paths of a version whose contents here are not what they were. */
  async verify({files}: DataManifest): Promise<string[]> {
    const bad: string[] = []
    for (const [path, , size, digest] of files) {
      throwIfInterrupted(this.#context.signal)
      const file = this.blob(digest)
      const isWhole = statSync(file, {throwIfNoEntry: false})?.size === size && (await hashFile(file)) === digest
      if (!isWhole) bad.push(path)
    }
    return bad
  }

  /** One command at a time. An add may take as long as it takes: who waits for it can be interrupted. */
  #alone<T>(action: () => Promise<T>): Promise<T> {
    const {signal} = this.#context
    return withFileLock(
      join(this.#folder, 'lock'),
      {what: 'the data sets of this machine', waitMs: LOCK_WAIT_MS, signal},
      action,
    )
  }

  #statsFile(folder: string): string {
    return join(this.#cache, `${createHash('sha256').update(folder).digest('hex').slice(0, 16)}.json`)
  }

  async #known(folder: string): Promise<Record<string, Known>> {
    try {
      const read = JSON.parse(await readFile(this.#statsFile(folder), 'utf8')) as {files: Record<string, Known>}
      return isCurrent('data.stats', read) ? read.files : {}
    } catch {
      return {} // everything is read
    }
  }

  #write(file: string, value: object): void {
    mkdirSync(dirname(file), {recursive: true, mode: 0o700})
    const beside = `${file}.${process.pid}`
    writeFileSync(beside, JSON.stringify(value), {mode: 0o600})
    renameSync(beside, file)
  }
}

/** What a version is called; node/flexrack_node/data/store.py computes the same. `files` by path, as bytes. Pure. */
export function digestOf(files: readonly DataFile[]): string {
  const sha = createHash('sha256')
  for (const [path, executable, , digest] of files) sha.update(`${path}\0${executable ? 'x' : '-'}\0${digest}\n`)
  return sha.digest('hex')
}

/** Contents of data sets on this machine; which of them make a version is store.ts. */
import {createHash, randomBytes} from 'node:crypto'
import {
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import {copyFile, readdir} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {CliError, hashFile} from '../base/index.ts'

/** Larger files are read in pieces. Bytes. */
const SMALL = 1 << 20

/** The contents of all versions, each once, by its SHA-256. */
export class Blobs {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Where a content lies. */
  path(digest: string): string {
    return join(this.#folder, digest.slice(0, 2), digest.slice(2))
  }

  /** Takes a content in: what was taken is what is named, also where the file changes meanwhile. */
  async keep(file: string, stats: Stats): Promise<{digest: string; bytes: number}> {
    const part = join(this.#folder, `.${process.pid}.${randomBytes(4).toString('hex')}`)
    mkdirSync(dirname(part), {recursive: true, mode: 0o700})
    try {
      let digest: string
      if (stats.size <= SMALL) {
        const content = readFileSync(file)
        if (content.length !== stats.size) throw changed(file)
        digest = createHash('sha256').update(content).digest('hex')
        if (existsSync(this.path(digest))) return {digest, bytes: 0}
        writeFileSync(part, content, {mode: 0o600})
      } else {
        await copyFile(file, part, constants.COPYFILE_FICLONE)
        if (statSync(part).size !== stats.size) throw changed(file)
        digest = await hashFile(part)
        if (existsSync(this.path(digest))) {
          rmSync(part, {force: true})
          return {digest, bytes: 0}
        }
      }
      chmodSync(part, 0o400)
      mkdirSync(dirname(this.path(digest)), {recursive: true, mode: 0o700})
      renameSync(part, this.path(digest))
      return {digest, bytes: stats.size}
    } catch (error) {
      rmSync(part, {force: true})
      if ((error as {code?: string}).code === 'ENOENT') throw changed(file)
      throw error
    }
  }

  /** Removes all contents but those that are wanted, and says how many bytes they had. */
  async dropAllBut(wanted: ReadonlySet<string>): Promise<number> {
    let bytes = 0
    for (const group of await readdir(this.#folder).catch(() => [])) {
      if (group.startsWith('.')) {
        // what an add that was killed has left: nobody else is at it now
        rmSync(join(this.#folder, group), {force: true})
        continue
      }
      for (const rest of await readdir(join(this.#folder, group))) {
        if (wanted.has(group + rest)) continue
        const file = join(this.#folder, group, rest)
        bytes += statSync(file).size
        rmSync(file, {force: true})
      }
    }
    return bytes
  }
}

function changed(file: string): CliError {
  return new CliError('CONFLICT', `${file} changed while it was being read`, {
    hint: 'run the command again once nothing writes there',
  })
}

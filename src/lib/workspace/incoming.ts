import {createHash} from 'node:crypto'
import {appendFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {DIGEST_DIGITS} from './entry.ts'

/** Files that come in pieces, one after the other, each under its number in a folder beside. */
export class Incoming {
  readonly #folder: string
  readonly #files: Map<string, {to: string; hash: ReturnType<typeof createHash>}>

  constructor(folder: string, paths: string[]) {
    this.#folder = folder
    this.#files = new Map(
      paths.map((path, index) => [path, {to: join(this.#folder, String(index)), hash: createHash('sha256')}]),
    )
    for (const {to} of this.#files.values()) writeFileSync(to, '', {mode: 0o600})
  }

  take({event, path, data}: {event: string; path?: unknown; data?: unknown}): void {
    const file = this.#files.get(path as string)
    if (event !== 'content' || !file) return
    const content = Buffer.from(data as string, 'base64')
    file.hash.update(content)
    appendFileSync(file.to, content)
  }

  digest(path: string): string | undefined {
    return this.#files.get(path)?.hash.digest('hex').slice(0, DIGEST_DIGITS)
  }
}

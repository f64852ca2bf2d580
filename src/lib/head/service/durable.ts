import {mkdir, open, readFile, rename, rm} from 'node:fs/promises'
import {dirname} from 'node:path'

/** Writes a JSON file so that after a crash or power loss the old or the new content is there, whole. Mode 0600. */
export async function writeDurably(file: string, value: unknown): Promise<void> {
  await writeTextDurably(file, `${JSON.stringify(value, undefined, 1)}\n`)
}

export async function writeTextDurably(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), {recursive: true, mode: 0o700})
  const part = `${file}.${process.pid}.part` // two heads may start at once where there was none
  try {
    const handle = await open(part, 'w', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(part, file)
  } catch (error) {
    await rm(part, {force: true}) // on a full disk it would take what room there is
    throw error
  }
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** A JSON file's value, or `absent` where there is no file. */
export async function readDurable<T>(file: string, absent: T): Promise<T> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, {cause: error})
  }
}

/** Runs what it is given one after another. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }
}

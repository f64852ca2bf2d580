import {mkdir, open, readdir, rename, rm} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {current, isCliError, stamped, type StoredKind, textIfThere} from '../../../base/index.ts'

/**
 * Writes a file of a kind so that after a crash or power loss the old or the new content is there, whole. Mode 0600.
 */
export async function writeDurably(kind: StoredKind, file: string, value: object): Promise<void> {
  await writeTextDurably(file, `${JSON.stringify(stamped(kind, value), undefined, 1)}\n`)
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
  await syncFolder(dirname(file))
}

/** Which names are in a folder outlasts a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Its value in today's shape, or `absent` where there is no file. Throws NEWER_VERSION. */
export async function readDurable<T>(kind: StoredKind, file: string, absent: T): Promise<T> {
  try {
    const text = await textIfThere(file)
    return text === undefined ? absent : current<T>(kind, JSON.parse(text), file)
  } catch (error) {
    if (isCliError(error)) throw error
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, {cause: error})
  }
}

/** Every value in a folder of files `NAME.json` of one kind, by name; the folder is made. Throws as readDurable. */
export async function openDurables<T>(kind: StoredKind, folder: string): Promise<Map<string, T>> {
  await mkdir(folder, {recursive: true, mode: 0o700})
  const found = new Map<string, T>()
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.json')) continue
    const value = await readDurable<T | undefined>(kind, join(folder, file), undefined)
    if (value) found.set(file.slice(0, -'.json'.length), value)
  }
  return found
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

import {randomBytes} from 'node:crypto'
import {chmod, mkdir, open, rename} from 'node:fs/promises'

/** Replaces a file as a whole, 0600: readers see the old text or the new one, also after a crash. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const next = `${file}.${randomBytes(4).toString('hex')}`
  const handle = await open(next, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(next, file)
}

/** Makes a folder that only its owner can enter, whatever the umask and whatever it was before. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, {recursive: true, mode: 0o700})
  await chmod(folder, 0o700)
}

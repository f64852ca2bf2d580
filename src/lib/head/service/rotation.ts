import {copyFile, stat, truncate} from 'node:fs/promises'

const MOST_BYTES = 10 * 1024 * 1024

/** Copies a log that grew too large to `<file>.1` and empties it. Its writer appends, so it goes on at the new end. */
export async function rotateInPlace(file: string): Promise<void> {
  const size = await stat(file).then((found) => found.size, () => 0)
  if (size < MOST_BYTES) return
  await copyFile(file, `${file}.1`)
  await truncate(file, 0)
}

import {copyFile, rm, stat, truncate} from 'node:fs/promises'
import {logLine} from '../log.ts'

const MOST_BYTES = 10 * 1024 * 1024

/**
 * Copies a log that grew too large to `<file>.1` and empties it. Its writer appends, so it goes on at the new end.
 * Where there is no room for the copy the log stays as it is, and the next call tries again: this must not end whom the
 * log is about.
 */
export async function rotateInPlace(file: string): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size < MOST_BYTES) return
  try {
    await copyFile(file, `${file}.1`)
    await truncate(file, 0)
  } catch (error) {
    await rm(`${file}.1`, {force: true})
    logLine(`${file} is not rotated: ${(error as Error).message}`)
  }
}

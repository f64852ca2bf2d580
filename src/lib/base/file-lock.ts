import {randomBytes} from 'node:crypto'
import {mkdir, open, rename, rm, stat, utimes} from 'node:fs/promises'
import {dirname} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {CliError} from './error.ts'
import {textIfThere} from './file-text.ts'
import {ownMark, stateOfMark, type ProcessMark} from './process-identity.ts'

/**
 * A lock of another machine, or of another start of this one, whose holder has not said for so long that it lives.
 * Milliseconds.
 */
const STALE_MS = 30_000
const ALIVE_MS = 5_000

export interface FileLockOptions {
  /** What is changed under it, for people. */
  what: string
  /** Milliseconds to wait for whoever holds it. */
  waitMs: number
  /** Ends the waiting. */
  signal?: AbortSignal
}

/**
 * Runs `action` while no other process does so under the same lock file, on this machine or on others with the same
 * home. A lock that a killed process has left is taken over. Errors: LOCKED after `waitMs`; INTERRUPTED.
 */
export async function withFileLock<T>(
  lock: string,
  {what, waitMs, signal}: FileLockOptions,
  action: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(lock), {recursive: true, mode: 0o700})
  const [started, mark] = [Date.now(), JSON.stringify(await ownMark())]
  for (;;) {
    try {
      const file = await open(lock, 'wx', 0o600)
      await file.writeFile(mark)
      await file.close()
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await clearStale(lock)
      if (Date.now() - started > waitMs)
        throw new CliError('LOCKED', `another flexrack is changing ${what}`, {hint: `if none is running: rm ${lock}`})
      if (signal?.aborted) throw new CliError('INTERRUPTED', `interrupted while another flexrack was changing ${what}`)
      await pause(20 + Math.random() * 30)
    }
  }
  const alive = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), ALIVE_MS).unref()
  try {
    return await action()
  } finally {
    clearInterval(alive)
    await rm(lock, {force: true})
  }
}

async function clearStale(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => undefined)
  if (!found) return
  const text = (await textIfThere(lock)) ?? ''
  const age = Date.now() - found.mtimeMs
  const state = await stateOf(text)
  // An empty lock file may be one that is being written right now.
  if (text === '' ? age < 1000 : state === 'running' || (state === 'elsewhere' && age < STALE_MS)) return
  // Renamed first: of several that find it stale, one takes it away.
  const aside = `${lock}.${process.pid}.${randomBytes(4).toString('hex')}`
  await rename(lock, aside).catch(() => undefined)
  await rm(aside, {force: true})
}

/** Machines with one home change the same files, and know nothing of each other's processes. */
async function stateOf(text: string): Promise<'running' | 'gone' | 'elsewhere'> {
  try {
    return await stateOfMark(JSON.parse(text) as ProcessMark)
  } catch {
    return 'elsewhere'
  }
}

import {randomBytes} from 'node:crypto'
import {link, mkdir, open, rename, rm, stat, utimes} from 'node:fs/promises'
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
  const holder: Holder = {...(await ownMark()), since: new Date().toISOString(), nonce: randomBytes(8).toString('hex')}
  const [started, mark] = [Date.now(), JSON.stringify(holder)]
  for (;;) {
    try {
      const file = await open(lock, 'wx', 0o600)
      await file.writeFile(mark)
      await file.close()
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (await clearStale(lock)) continue
      if (Date.now() - started > waitMs) throw await lockedBy(lock, what)
      if (signal?.aborted) throw new CliError('INTERRUPTED', `interrupted while another flexrack was changing ${what}`)
      await pause(20 + Math.random() * 30)
    }
  }
  const alive = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), ALIVE_MS).unref()
  try {
    return await action()
  } finally {
    clearInterval(alive)
    if ((await textIfThere(lock)) === mark) await rm(lock, {force: true})
  }
}

interface Holder extends ProcessMark {
  since: string
  nonce: string
}

async function lockedBy(lock: string, what: string): Promise<CliError> {
  const {pid, since} = parsed((await textIfThere(lock)) ?? '') ?? {}
  const who = pid === undefined ? '' : ` (pid ${pid}${since === undefined ? '' : `, since ${since}`})`
  return new CliError('LOCKED', `another flexrack command${who} is changing ${what}`, {
    hint: `wait for it to end, then try again; if none is running: rm ${lock}`,
    details: {holder: pid ?? null, since: since ?? null},
  })
}

function parsed(text: string): Partial<Holder> | undefined {
  try {
    return JSON.parse(text) as Holder
  } catch {
    return undefined
  }
}

/** True where it is gone. */
async function clearStale(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined)
  if (!found) return true
  const text = (await textIfThere(lock)) ?? ''
  const age = Date.now() - found.mtimeMs
  const state = await stateOf(text)
  // An empty lock file may be one that is being written right now.
  if (text === '' ? age < 1000 : state === 'running' || (state === 'elsewhere' && age < STALE_MS)) return false
  // Renamed first: of several that find it stale, one takes it away; who has taken the lock meanwhile gets it back.
  const aside = `${lock}.${process.pid}.${randomBytes(4).toString('hex')}`
  await rename(lock, aside).catch(() => undefined)
  if (((await textIfThere(aside)) ?? text) !== text) await link(aside, lock).catch(() => undefined)
  await rm(aside, {force: true})
  return true
}

/** Machines with one home change the same files, and know nothing of each other's processes. */
async function stateOf(text: string): Promise<'running' | 'gone' | 'elsewhere'> {
  const holder = parsed(text)
  return holder?.place === undefined ? 'elsewhere' : stateOfMark(holder as ProcessMark)
}

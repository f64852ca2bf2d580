import {randomBytes} from 'node:crypto'
import {link, readdir, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {setTimeout as wait} from 'node:timers/promises'
import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {isAlive} from './alive.ts'

const WAIT_MS = 30_000
const POLL_MS = 50

interface Holder {
  pid: number
  since: string
  nonce: string
}

/**
 * Runs `work` while no other flexrack command changes the local rack. Waits up to 30 s for another one, then LOCKED.
 * A lock left by a process that is gone is taken over.
 */
export async function withLock<T>(file: string, ctx: Context, work: () => Promise<T>): Promise<T> {
  const own: Holder = {pid: process.pid, since: new Date().toISOString(), nonce: randomBytes(8).toString('hex')}
  const draft = `${file}.${own.nonce}`
  // Linked into place whole: a reader never sees a lock that does not say whose it is.
  await writeFile(draft, JSON.stringify(own), {mode: 0o600})
  try {
    await take(file, draft, ctx)
  } finally {
    await rm(draft, {force: true})
  }
  try {
    await removeDrafts(file)
    return await work()
  } finally {
    if ((await holderOf(file))?.nonce === own.nonce) await rm(file, {force: true})
  }
}

async function take(file: string, draft: string, ctx: Context): Promise<void> {
  const until = Date.now() + WAIT_MS
  for (;;) {
    throwIfInterrupted(ctx.signal)
    if (await linked(draft, file)) return
    const holder = await holderOf(file)
    if (holder && !isAlive(holder.pid)) {
      await removeStale(file, holder)
      continue
    }
    if (Date.now() > until) {
      throw new CliError(
        'LOCKED',
        `another flexrack command (pid ${holder?.pid ?? 'unknown'}, since ${holder?.since ?? 'unknown'}) is changing the local rack`,
        {
          hint: 'wait for it to end, then try again',
          details: {holder: holder?.pid ?? null, since: holder?.since ?? null},
        },
      )
    }
    await wait(POLL_MS)
  }
}

/** Moves the stale lock away; if it turns out that somebody has taken it in the meantime, puts theirs back. */
async function removeStale(file: string, stale: Holder): Promise<void> {
  const aside = `${file}.${randomBytes(8).toString('hex')}`
  try {
    await rename(file, aside)
  } catch {
    return
  }
  if ((await holderOf(aside))?.nonce !== stale.nonce) await linked(aside, file)
  await rm(aside, {force: true})
}

/** What commands that were killed while they waited have left. */
async function removeDrafts(file: string): Promise<void> {
  const folder = dirname(file)
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${basename(file)}.`)) continue
    const owner = await holderOf(join(folder, name))
    if (owner && !isAlive(owner.pid)) await rm(join(folder, name), {force: true})
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function holderOf(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

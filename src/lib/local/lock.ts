import {withFileLock, type Context} from '../base/index.ts'

const WAIT_MS = 30_000

/** Runs `work` while no other flexrack command changes the local rack. Errors: LOCKED after 30 s; INTERRUPTED. */
export async function withLock<T>(file: string, ctx: Context, work: () => Promise<T>): Promise<T> {
  return withFileLock(file, {what: 'the local rack', waitMs: WAIT_MS, signal: ctx.signal}, work)
}

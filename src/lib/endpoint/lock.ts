import {hostname, userInfo} from 'node:os'
import {CliError, isCliError, throwIfInterrupted, type Context} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'

const TTL_SECONDS = 15
const RENEW_MS = 4000

/** Who we are, in documents and locks: `user@host`. */
export function whoAmI(): string {
  return `${userInfo().username}@${hostname()}`
}

/**
 * Runs `work` with the endpoint's lock held and renewed. LOCKED says who holds it and since when; the lock of a process
 * of this machine that has died is waited for, as it ends by itself within seconds. `work` gets a signal that is
 * aborted if the lock is lost.
 */
export async function withLock<T>(
  head: HeadConnection,
  endpoint: string,
  context: Context,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const path = `/flexrack/v1/locks/${encodeURIComponent(`endpoint:${endpoint}`)}`
  const owner = `${whoAmI()} pid ${process.pid}`
  const {fence} = await acquire(head, path, owner, endpoint, context)
  const lost = new AbortController()
  const timer = setInterval(() => {
    head.request('PUT', path, {owner, ttl_seconds: TTL_SECONDS, fence}).catch((error: unknown) => {
      if (isCliError(error, 'LOCKED')) lost.abort(error)
    })
  }, RENEW_MS)
  try {
    return await work(AbortSignal.any([context.signal, lost.signal]))
  } catch (error) {
    throw lost.signal.aborted
      ? new CliError('LOCKED', `the lock of endpoint ${endpoint} was lost, as the head was out of reach for too long`, {
          hint: `flexrack endpoint show ${endpoint}`,
          cause: error,
        })
      : error
  } finally {
    clearInterval(timer)
    await head.request('DELETE', path, {fence}).catch(() => {}) // it ends by itself
  }
}

/** Like withLock, but does nothing and gives undefined where somebody holds it. */
export async function tryLock<T>(
  head: HeadConnection,
  endpoint: string,
  context: Context,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const path = `/flexrack/v1/locks/${encodeURIComponent(`endpoint:${endpoint}`)}`
  try {
    await head
      .request<{fence: number}>('PUT', path, {owner: `${whoAmI()} pid ${process.pid}`, ttl_seconds: TTL_SECONDS})
      .then((held) => head.request('DELETE', path, {fence: held.fence}))
  } catch (error) {
    if (isCliError(error, 'LOCKED')) return undefined
    throw error
  }
  return withLock(head, endpoint, context, work)
}

async function acquire(
  head: HeadConnection,
  path: string,
  owner: string,
  endpoint: string,
  context: Context,
): Promise<{fence: number}> {
  for (let waited = false; ; waited = true) {
    try {
      return await head.request<{fence: number}>('PUT', path, {owner, ttl_seconds: TTL_SECONDS})
    } catch (error) {
      if (!isCliError(error, 'LOCKED')) throw error
      const {holder, since} = error.details
      if (!isDead(holder)) {
        throw new CliError(
          'LOCKED',
          `endpoint ${endpoint} is being changed by ${String(holder)}${since ? ` since ${new Date(Number(since)).toLocaleTimeString('en-GB')}` : ''}`,
          {
            hint: 'wait until that has ended',
            details: {holder, ...(since !== undefined && {since: new Date(Number(since)).toISOString()})},
            cause: error,
          },
        )
      }
      if (!waited)
        context.reporter.note(`${String(holder)} left the lock of endpoint ${endpoint}; waiting until it ends`)
      throwIfInterrupted(context.signal)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

/** True for a process of this machine and user that is no more. */
function isDead(holder: unknown): boolean {
  const [, who, pid] = /^(.*) pid (\d+)$/.exec(String(holder)) ?? []
  if (who !== whoAmI() || pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

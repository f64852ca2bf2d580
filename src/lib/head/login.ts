import type {HeadConnection} from './connect.ts'

const RENEW_MS = 30_000

/** A browser's way in; it ends with whoever asked for it. */
export interface Login {
  /** What it is called between here and the head. */
  name: string
  /** Logs one browser in, once. */
  url: string
  /** Until when the link works; milliseconds since 1970. */
  expiresAt: number
  /** Another link for the same browser, or one more. Errors: those of request. */
  again(): Promise<string>
  /** Logs out who came in by it. The head also does so by itself, minutes after it has last heard of us. */
  end(): Promise<void>
}

/**
 * Asks the head for a login link, and keeps what comes of it open until end(). `opens`: the rack's page, also to change
 * something or only to look; absent: MLflow's pages. Errors as request of the connection.
 */
export async function openLogin(
  head: Pick<HeadConnection, 'uri' | 'request'>,
  opens?: 'page' | 'look',
): Promise<Login> {
  const {
    path,
    expires_at: expiresAt,
    login,
  } = await head.request<{path: string; expires_at: number; login: string}>('POST', '/flexrack/v1/login-codes', {opens})
  const own = `/flexrack/v1/logins/${login}`
  // One that gets lost does no harm: the head waits for several.
  const timer = setInterval(() => void head.request('PUT', own).catch(() => {}), RENEW_MS)
  timer.unref()
  return {
    name: login,
    url: `${head.uri}${path}`,
    expiresAt,
    again: async () => {
      const more = await head.request<{path: string}>('POST', '/flexrack/v1/login-codes', {opens, login})
      return `${head.uri}${more.path}`
    },
    async end() {
      clearInterval(timer)
      await head.request('DELETE', own).catch(() => {}) // then it ends by itself
    },
  }
}

import {CliError, isCliError, ownerName, Secret, type Context} from '../base/index.ts'
import {readLogin} from '../login/index.ts'
import type {LoginToken} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {requestJson, type HttpRequest} from '../tracking/index.ts'
import {openLogin, type Login} from './login.ts'
import {headAccess, openHeadHost, type HeadAccess, type Role} from './places.ts'
import {keepCertificates} from './trust.ts'
import {HEAD_NAME, STANDBY_NAME, type WhoAmI} from './types.ts'

/** A way to the head's listener, through the node's SSH connection. */
export interface HeadConnection {
  /**
   * Base URL from here, through a forward that speaks TLS with the head and with nobody else; usable as
   * MLFLOW_TRACKING_URI.
   */
  uri: string
  /** Base URL that nodes use. */
  nodeUri: string
  /** Where the head listens, as its node reaches it. */
  listener: HeadAccess['listener']
  /** Certificates (PEM) that nodes trust at that URL, and no others; undefined where the rack file gives the URL. */
  nodeCa: string | undefined
  /** What is trusted in the rack, PEM, whatever the rack file says. */
  ca: string
  /** Keeps those certificates in a file here, for programs that take one, and gives its path. */
  certificates(): Promise<string | undefined>
  /** It may have quotas: it is asked before a run takes anything. */
  quotas: boolean
  /** The admin token, or that of who has logged in. */
  token: Secret
  /** The user who has logged in from here; undefined: whoever may enter the head's account. */
  user: string | undefined
  /** Calls the head's own API; errors as requestJson, plus the head's own codes (LOCKED, CONFLICT). */
  request<T>(method: HttpRequest['method'], path: string, body?: unknown): Promise<T>
  /** Projects that are kept apart, as far as they are open to who asks; a head of an older version keeps none apart. */
  projects(): Promise<string[]>
  /** A way in for a browser: see openLogin. */
  logIn(opens?: 'page' | 'look'): Promise<Login>
  /** Resolves when the way there has ended, however. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Another way in than this machine's login, or the account on the head's node. */
export interface HeadEntry {
  /** Where the head is and what it is known by; undefined: as that account knows it. */
  access?: Omit<HeadAccess, 'token'> | undefined
  /** Undefined: none yet. */
  token?: string | undefined
}

/**
 * Opens a forward to the head of a rack, or to its standby, which answers endpoints and changes nothing. Errors:
 * NOT_FOUND where it was never started or was stopped, HEAD_FAILED where it ended again and again; whether it answers is
 * seen at the first request.
 */
export async function connectHead(
  rack: Rack,
  fleet: Fleet,
  context: Context,
  role: Role = 'first',
  entry?: HeadEntry,
): Promise<HeadConnection> {
  const host = await openHeadHost(rack, fleet, context, role)
  const what = role === 'first' ? 'head' : 'standby'
  const login = role === 'first' && !entry ? await readLogin(rack.name, context) : undefined
  const known = login ? accessOf(login) : (entry?.access ?? (await headAccess(rack, host, role)))
  const {listener, ca} = known
  const token = entry ? (entry.token ?? '') : (known as HeadAccess).token
  const place = `${listener.address}:${listener.port} of ${host.node}`
  let reported = false
  const onUntrusted = (error: Error): void => {
    if (!reported)
      context.reporter.warn(
        `what answers at ${place} is not the ${what} of rack ${rack.name}, and was told nothing: ${error.message}`,
      )
    reported = true
  }
  const forward = await host.shell.forwardLocal({
    targetHost: listener.address,
    targetPort: listener.port,
    pinned: {ca, name: role === 'first' ? HEAD_NAME : STANDBY_NAME, onUntrusted},
  })
  const uri = `http://127.0.0.1:${forward.port}`
  const secret = new Secret(token)
  const peer = `the ${what} of rack ${rack.name}`
  const connection: HeadConnection = {
    uri,
    nodeUri: listener.url,
    listener,
    nodeCa: rack.head.url === undefined ? ca : undefined,
    ca,
    certificates: async () => (rack.head.url === undefined ? keepCertificates(rack, ca, context) : undefined),
    quotas: known.quotas ?? true,
    token: secret,
    user: login?.user,
    request: async <T>(method: HttpRequest['method'], path: string, body?: unknown): Promise<T> => {
      try {
        return await requestJson<T>({
          method,
          url: `${uri}${path}`,
          peer,
          ...(token !== '' && {token: secret}),
          signal: context.signal,
          headers: ownerHeader(context),
          ...(body !== undefined && {json: body}),
        })
      } catch (error) {
        if (isCliError(error, 'NODE_UNREACHABLE') && !error.hint)
          throw new CliError('NODE_UNREACHABLE', error.message, {
            hint: 'flexrack head status',
            details: error.details,
            cause: error,
          })
        if (login && isCliError(error, 'REFUSED') && /revoked or expired/.test(error.message))
          throw new CliError('REFUSED', `the login of ${login.user} to rack ${rack.name} was revoked, or has ended`, {
            hint: `flexrack login --rack ${rack.name}\nflexrack logout --rack ${rack.name}`,
            cause: error,
          })
        throw error
      }
    },
    projects: () => projectsOf(connection),
    logIn: (opens) => openLogin(connection, opens),
    closed: host.shell.closed,
    close: () => forward.close(),
  }
  return connection
}

function accessOf({address, port, url, ca, token}: LoginToken): HeadAccess {
  return {listener: {address, port, url}, ca, token}
}

async function projectsOf(head: Pick<HeadConnection, 'request'>): Promise<string[]> {
  try {
    return Object.keys((await head.request<WhoAmI>('GET', '/flexrack/v1/whoami')).projects)
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return []
    throw error
  }
}

/** Who types, for the head's log; left out where a header cannot have it. */
function ownerHeader(context: Context): Record<string, string> {
  const name = ownerName(context)
  return /^[\w.+@-]+$/.test(name) ? {'x-flexrack-owner': name} : {}
}

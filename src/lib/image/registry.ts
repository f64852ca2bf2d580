import {Readable} from 'node:stream'
import {CliError, type Context, type Secret} from '../base/index.ts'
import {credentialsFor, type Credentials} from './credentials.ts'
import {readSmall} from './limited.ts'
import {MANIFEST_TYPES, MOST_MANIFEST_BYTES} from './manifest.ts'
import type {BlobSource, Descriptor, ImageReference} from './types.ts'

/** Milliseconds until an answer begins, and between two pieces of it. */
const SILENCE_MS = 60_000
const MOST_REDIRECTS = 5
const MOST_TOKEN_BYTES = 1 << 20

type Named = Extract<ImageReference, {kind: 'registry'}>

/**
 * A repository of a registry, by the OCI distribution-spec. The token for it goes to the registry alone, never where
 * that sends us for a blob; a registry without TLS is taken on this machine's loopback only.
 */
export class Registry implements BlobSource {
  readonly #context: Context
  readonly #ref: Named
  readonly #base: URL
  #authorization: string | undefined
  #credentials: Promise<Credentials | undefined> | undefined

  constructor(ref: Named, context: Context) {
    this.#ref = ref
    this.#context = context
    const host = ref.host === 'docker.io' ? 'registry-1.docker.io' : ref.host
    this.#base = new URL(`${isLoopback(host) ? 'http' : 'https'}://${host}/v2/${ref.name}/`)
  }

  async manifest(reference: string): Promise<{bytes: Buffer; mediaType?: string}> {
    const answer = await this.#get(`manifests/${reference}`, {accept: MANIFEST_TYPES.join(', ')})
    const bytes = await readSmall(
      bodyOf(answer, this.#context.signal),
      MOST_MANIFEST_BYTES,
      `the manifest of ${this.#ref.text}`,
    )
    const mediaType = answer.headers.get('content-type')?.split(';')[0]?.trim()
    return {bytes, ...(mediaType && {mediaType})}
  }

  async blob({digest}: Descriptor): Promise<Readable> {
    return bodyOf(await this.#get(`blobs/${digest}`, {}), this.#context.signal)
  }

  /** Follows redirects by itself: with the token only within the registry. */
  async #get(path: string, headers: Record<string, string>): Promise<Response> {
    let url = new URL(path, this.#base)
    for (let redirects = 0, tried = false; ;) {
      const isOwn = url.origin === this.#base.origin
      const answer = await this.#send(url, {
        ...headers,
        ...(isOwn && this.#authorization !== undefined && {authorization: this.#authorization}),
      })
      if (answer.status >= 200 && answer.status < 300) return answer
      await answer.body?.cancel().catch(() => {})
      if (answer.status === 401 && isOwn && !tried) {
        tried = true
        await this.#signIn(answer.headers.get('www-authenticate') ?? '')
        continue
      }
      const next = answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null
      if (next === null) throw this.#refusal(answer.status, path)
      if (++redirects > MOST_REDIRECTS)
        throw new CliError('REMOTE_FAILED', `${this.#ref.host} redirects without an end`)
      const to = URL.canParse(next, url.href) ? new URL(next, url) : undefined
      if (!to || (to.protocol !== 'https:' && (this.#base.protocol === 'https:' || to.protocol !== 'http:'))) {
        throw new CliError(
          'REMOTE_FAILED',
          `${this.#ref.host} redirects to ${to ? `${to.protocol}//${to.host}, which is not encrypted` : 'what is no address'}`,
        )
      }
      url = to
    }
  }

  async #send(url: URL, headers: Record<string, string>, body?: URLSearchParams): Promise<Response> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), SILENCE_MS)
    try {
      return await fetch(url, {
        headers,
        redirect: 'manual',
        signal: AbortSignal.any([this.#context.signal, late.signal]),
        ...(body && {method: 'POST', body}),
      })
    } catch (cause) {
      if (this.#context.signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
      const why = late.signal.aborted ? 'no answer' : reasonOf(cause)
      throw new CliError('REMOTE_FAILED', `the registry ${url.host} cannot be reached: ${why}`, {
        hint: 'where images come through a proxy: NODE_USE_ENV_PROXY=1 and HTTPS_PROXY; a certificate of your own: NODE_EXTRA_CA_CERTS',
        cause,
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * By what the registry asks for: a token of its authorization service, or the password itself. RFC 6750,
   * distribution's token authentication.
   */
  async #signIn(challenge: string): Promise<void> {
    this.#credentials ??= credentialsFor(this.#ref.host, this.#context)
    const known = await this.#credentials
    const [, scheme = '', rest = ''] = /^(\w+)\s*(.*)$/s.exec(challenge) ?? []
    const parameters = Object.fromEntries(
      [...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string | undefined>
    if (/^basic$/i.test(scheme)) {
      if (!known || !('user' in known)) throw this.#signInNeeded()
      this.#authorization = basic(known)
      return
    }
    const {realm, service, scope} = parameters
    if (!/^bearer$/i.test(scheme) || realm === undefined || !URL.canParse(realm))
      throw new CliError(
        'REMOTE_FAILED',
        `${this.#ref.host} asks to sign in in a way that is not known: ${scheme || 'nothing said'}`,
      )
    const service_ = new URL(realm)
    if (service_.protocol !== 'https:' && !(this.#base.protocol === 'http:' && isLoopback(service_.host)))
      throw new CliError(
        'REMOTE_FAILED',
        `${this.#ref.host} wants the password sent to ${service_.host} without encryption`,
      )
    const wanted = {...(service !== undefined && {service}), scope: scope ?? `repository:${this.#ref.name}:pull`}
    let answer: Response
    if (known && 'token' in known) {
      answer = await this.#send(
        service_,
        {},
        new URLSearchParams({
          ...wanted,
          grant_type: 'refresh_token',
          client_id: 'flexrack',
          refresh_token: known.token.reveal(),
        }),
      )
    } else {
      for (const [name, value] of Object.entries(wanted)) service_.searchParams.set(name, value)
      answer = await this.#send(service_, known ? {authorization: basic(known)} : {})
    }
    if (answer.status !== 200) {
      await answer.body?.cancel().catch(() => {})
      if (answer.status === 401 || answer.status === 403) throw this.#signInNeeded()
      throw new CliError(
        'REMOTE_FAILED',
        `${service_.host} gives no token for ${this.#ref.text} (status ${answer.status})`,
      )
    }
    const token = tokenOf(
      await readSmall(bodyOf(answer, this.#context.signal), MOST_TOKEN_BYTES, `the token of ${service_.host}`),
    )
    if (token === undefined) throw new CliError('REMOTE_FAILED', `${service_.host} answers without a token`)
    this.#authorization = `Bearer ${token}`
  }

  #signInNeeded(): CliError {
    return new CliError('REFUSED', `${this.#ref.host} does not let you read ${this.#ref.text}`, {
      hint: `docker login ${this.#ref.host}`,
      details: {registry: this.#ref.host},
    })
  }

  #refusal(status: number, path: string): CliError {
    if (status === 401 || status === 403) return this.#signInNeeded()
    if (status === 404)
      return new CliError(
        'NOT_FOUND',
        `${this.#ref.host} has no ${path.startsWith('blobs/') ? `blob ${path.slice(6)} of ${this.#ref.text}` : this.#ref.text}`,
        {hint: 'correct workspace.image in flexrack.yaml'},
      )
    if (status === 429)
      return new CliError('REMOTE_FAILED', `${this.#ref.host} lets you pull no more for now`, {
        hint: `docker login ${this.#ref.host}, or later`,
      })
    return new CliError('REMOTE_FAILED', `${this.#ref.host} answers with status ${status} for ${this.#ref.text}`)
  }
}

function bodyOf(answer: Response, signal: AbortSignal): Readable {
  if (!answer.body) return Readable.from([])
  const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0], {signal})
  const silent = (): void =>
    void body.destroy(
      new CliError('TIMED_OUT', 'the registry sends nothing any more', {
        hint: 'run the command again: what has come is kept',
      }),
    )
  let timer = setTimeout(silent, SILENCE_MS)
  body.on('data', () => {
    clearTimeout(timer)
    timer = setTimeout(silent, SILENCE_MS)
  })
  body.pause() // whoever reads it begins
  body.once('close', () => clearTimeout(timer))
  return body
}

function tokenOf(bytes: Buffer): string | undefined {
  try {
    const {token, access_token: access} = JSON.parse(bytes.toString()) as {token?: unknown; access_token?: unknown}
    const found = token ?? access
    return typeof found === 'string' && /^[\x21-\x7e]{1,65536}$/.test(found) ? found : undefined
  } catch {
    return undefined
  }
}

const basic = ({user, password}: {user: string; password: Secret}): string =>
  `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`

/** As docker has it: there a registry may speak without TLS. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/.test(host)
}

function reasonOf(error: unknown): string {
  const {cause, message} = error as Error & {cause?: Error & {code?: string}}
  return cause?.code ?? cause?.message ?? message
}

import type {Configuration, DeviceAuthorizationResponse} from 'openid-client'
import {trustedBy, type OidcSettings} from './providers.ts'

/**
 * The provider as its discovery document tells (OpenID Connect Discovery 1.0), for calls of ours. Throws where it does not
 * answer as it should.
 */
export async function discover(settings: OidcSettings): Promise<Configuration> {
  const {issuer, client_id: clientId, client_secret: secret} = settings
  const [oidc, fetchFrom] = await Promise.all([import('openid-client'), fetchWith(settings)])
  const insecure = new URL(issuer).protocol === 'http:' ? [oidc.allowInsecureRequests] : [] // loopback: providers.ts
  return oidc.discovery(new URL(issuer), clientId, secret, secret === undefined ? oidc.None() : undefined, {
    execute: [oidc.enableNonRepudiationChecks, ...insecure],
    ...(fetchFrom && {[oidc.customFetch]: fetchFrom}),
  })
}

/** A code for somebody to enter. Throws where the provider gives this client none, with why. */
export async function deviceCodeOf(
  config: Configuration,
  {client_id: clientId, scope}: OidcSettings,
): Promise<DeviceAuthorizationResponse> {
  if (config.serverMetadata().device_authorization_endpoint === undefined)
    throw new Error('it offers no device flow (RFC 8628)')
  const oidc = await import('openid-client')
  try {
    return await oidc.initiateDeviceAuthorization(config, {scope})
  } catch (error) {
    throw new Error(`it gives client ${clientId} no device code: ${reasonOf(error)}`, {cause: error})
  }
}

/**
 * The claims of an ID token together with those that the provider tells at its UserInfo endpoint alone, as many do with
 * claims of scopes (OpenID Connect Core 1.0, 5.4). What the token says counts.
 */
export async function claimsOf(
  config: Configuration,
  tokens: {access_token: string; claims(): Record<string, unknown> | undefined},
  wanted: readonly string[],
): Promise<Record<string, unknown>> {
  const claims = tokens.claims() ?? {}
  const isWhole = wanted.every((name) => claims[name] !== undefined)
  if (isWhole || typeof claims.sub !== 'string' || config.serverMetadata().userinfo_endpoint === undefined)
    return claims
  const oidc = await import('openid-client')
  return {...(await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims}
}

/** In the provider's own words, where it has some. */
export function reasonOf(error: unknown): string {
  const {error: code, error_description: words, message, cause} = error as Error & Record<string, unknown>
  if (typeof code === 'string') return typeof words === 'string' ? `${code}: ${words}` : code
  const why = cause instanceof Error ? reasonOf(cause) : ''
  return message.includes(why) ? message : `${message}: ${why}`
}

type Fetch = NonNullable<
  Parameters<typeof import('openid-client').discovery>[4]
>[typeof import('openid-client').customFetch]

/** Undefined: Node's own does. */
async function fetchWith(settings: OidcSettings): Promise<Fetch | undefined> {
  const trusted = await trustedBy(settings)
  if (trusted.ca === undefined) return undefined
  const {Agent, fetch: fetchHere} = await import('undici')
  const dispatcher = new Agent({connect: trusted})
  return ((url: string, options: object) => fetchHere(url, {...options, dispatcher})) as unknown as Fetch
}

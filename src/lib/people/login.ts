import {
  CliError,
  headFingerprint,
  LOGIN_NAMESPACE,
  loginText,
  signWith,
  type Context,
  type Secret,
} from '../base/index.ts'
import {connectHead, type DeviceCode, type HeadConnection, type MadeToken, type WhoAmI} from '../head/index.ts'
import {dropLogin, keepLogin, readLogin} from '../login/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Invitation} from './invitation.ts'

const LOGIN = '/flexrack/v1/people/login'

/** How somebody shows who they are. */
export type LoginWish = {
  invitation?: Invitation | undefined
  /** Seconds until the token ends. */
  seconds: number
  note: string
} & (
  | {method: 'ssh'; user: string; key: string}
  | {method: 'token'; token: Secret}
  /** `show`: is told where to say to the provider that it is them. */
  | {method: 'oidc'; show: (code: DeviceCode) => void}
  | {method: 'ldap'; user: string; password: Secret}
)

/**
 * Logs in and keeps the token here. Without an invitation the head is found as the account on its node finds it. Errors:
 * REFUSED, those of connectHead and of signWith.
 */
export async function logIn(rack: Rack, fleet: Fleet, wish: LoginWish, context: Context): Promise<WhoAmI> {
  const access = accessOf(wish.invitation)
  const token: string = wish.method === 'token' ? wish.token.reveal() : await atTheDoor(wish)
  const head = await connectHead(rack, fleet, context, 'first', {access, token})
  try {
    const me = await head.request<WhoAmI>('GET', '/flexrack/v1/whoami')
    if (me.user === null || !me.token)
      throw new CliError('REFUSED', 'this is no token of a user', {hint: 'flexrack token create'})
    const {address, port, url} = head.listener
    const {id, expiresAt} = me.token
    const {method} = wish
    await keepLogin(
      {rack: rack.name, user: me.user, id, token, expiresAt, address, port, url, ca: head.ca, method},
      context,
    )
    return me
  } finally {
    await head.close()
  }

  async function atTheDoor(shown: Exclude<LoginWish, {method: 'token'}>): Promise<string> {
    const door = await connectHead(rack, fleet, context, 'first', {access})
    try {
      const more = {note: shown.note, ttl_seconds: shown.seconds}
      if (shown.method === 'oidc') return (await byDevice(door, shown.show, more)).token
      if (shown.method === 'ssh') return (await prove(door, {...shown, ...more})).token
      const given = {user: shown.user, password: shown.password.reveal(), ...more}
      return (await door.request<MadeToken>('POST', `${LOGIN}/ldap`, given)).token
    } finally {
      await door.close()
    }
  }
}

async function prove(
  head: HeadConnection,
  {user, key, note, ttl_seconds}: {user: string; key: string; note: string; ttl_seconds: number},
): Promise<MadeToken> {
  const {nonce} = await head.request<{nonce: string}>('POST', `${LOGIN}/challenge`, {user})
  // What is signed names the head by its certificates: to another one, the signature is worth nothing.
  const text = loginText({user, nonce, head: headFingerprint(head.ca)})
  const signature = await signWith(key, Buffer.from(text), LOGIN_NAMESPACE)
  const proof = {nonce, signature: signature.toString('base64')}
  return head.request<MadeToken>('POST', `${LOGIN}/ssh`, {...proof, note, ttl_seconds})
}

/** The head asks the provider, and holds each question until there is an answer, or some seconds. */
async function byDevice(
  head: HeadConnection,
  show: (code: DeviceCode) => void,
  more: {note: string; ttl_seconds: number},
): Promise<MadeToken> {
  const code = await head.request<DeviceCode>('POST', `${LOGIN}/device`, {})
  show(code)
  for (;;) {
    const answer = await head.request<MadeToken | {pending: true}>('POST', `${LOGIN}/oidc`, {id: code.id, ...more})
    if ('token' in answer) return answer
  }
}

/** Ends the token at the head, where it answers, and forgets it here. Gives who was logged in. */
export async function logOut(
  rack: Rack,
  fleet: Fleet,
  context: Context,
): Promise<{user: string | null; revoked: boolean}> {
  const login = await readLogin(rack.name, context).catch(() => undefined)
  let revoked = false
  if (login) {
    try {
      const head = await connectHead(rack, fleet, context, 'first', {access: accessOf(login), token: login.token})
      await head.request('DELETE', '/flexrack/v1/tokens/self').finally(() => head.close())
      revoked = true
    } catch (error) {
      context.reporter.warn(`the token was not ended at the head, only forgotten here: ${(error as Error).message}`)
    }
  }
  await dropLogin(rack.name, context)
  return {user: login?.user ?? null, revoked}
}

function accessOf(known: Invitation | undefined): {listener: Omit<Invitation, 'ca'>; ca: string} | undefined {
  if (!known) return undefined
  const {ca, address, port, url} = known
  return {listener: {address, port, url}, ca}
}

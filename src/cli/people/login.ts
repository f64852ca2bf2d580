import {CliError, ownerName, Secret, type Context} from '../../lib/base/index.ts'
import type {DeviceCode} from '../../lib/head/index.ts'
import {askSecret} from '../base/prompt.ts'
import type {Session} from '../base/session.ts'
import {accountsLine} from './accounts.ts'
import {readStdin} from './stdin.ts'
import type {ShownLogin} from './text.ts'

interface LoginFlags {
  user?: string | undefined
  key?: string | undefined
  invitation?: string | undefined
  oidc: boolean
  ldap: boolean
  'token-stdin': boolean
  'password-stdin': boolean
  /** Until the login ends. */
  seconds: number
}

/** Logs in as the flags say. Errors: USAGE, NOT_FOUND where there is no SSH key, those of logIn. */
export async function logInHere(flags: LoginFlags, {rack, fleet}: Session, context: Context): Promise<ShownLogin> {
  const [{logIn, readInvitation}, {readPublicKey}] = await Promise.all([
    import('../../lib/people/index.ts'),
    import('../../lib/share/index.ts'),
  ])
  const owner = ownerName(context)
  const shared = {
    invitation: flags.invitation === undefined ? undefined : readInvitation(flags.invitation),
    seconds: flags.seconds,
    note: `login of ${owner}`,
  }
  const wish = async (): Promise<Parameters<typeof logIn>[2]> => {
    if (flags['token-stdin']) return {...shared, method: 'token', token: new Secret(await readToken())}
    if (flags.oidc) return {...shared, method: 'oidc', show: (code) => context.reporter.note(codeText(code))}
    const user = flags.user ?? owner.split('@', 1)[0]!
    if (flags.ldap) {
      const question = {message: `Password of ${user} in the directory`, flag: '--password-stdin'}
      const password = flags['password-stdin'] ? await readPassword() : await askSecret(question, context)
      return {...shared, method: 'ldap', user, password}
    }
    const key = flags.key ?? (await readPublicKey(undefined))?.file
    if (key === undefined)
      throw new CliError('NOT_FOUND', 'there is no SSH key in ~/.ssh to log in with', {
        hint: '--key FILE, or --token-stdin',
      })
    return {...shared, method: 'ssh', user, key}
  }
  const me = await logIn(rack, fleet, await wish(), context)
  return {rack: rack.name, ...me, accounts: accountsLine(rack)}
}

function codeText({verification_uri: uri, user_code: code, verification_uri_complete: whole}: DeviceCode): string {
  return whole === null
    ? `open ${uri} in a browser, and enter ${code}`
    : `open ${whole} in a browser, and see that it says ${code}`
}

/** A token stands neither in arguments nor in what a shell remembers. */
async function readToken(): Promise<string> {
  const text = await readStdin(4096)
  if (/^[\w.-]+$/.test(text.trim())) return text.trim()
  throw new CliError('USAGE', 'stdin holds no token', {hint: 'flexrack login --token-stdin < FILE'})
}

/** The line's end is not a part of it. */
async function readPassword(): Promise<Secret> {
  const text = (await readStdin(1024)).replace(/\r?\n$/, '')
  if (text !== '' && !/[\r\n]/.test(text)) return new Secret(text)
  throw new CliError('USAGE', 'stdin holds no password, which is one line', {
    hint: 'flexrack login --ldap --password-stdin < FILE',
  })
}

import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {
  CliError,
  current,
  ensurePrivateFolder,
  stamped,
  textIfThere,
  userPaths,
  writeWhole,
  type Context,
} from '../base/index.ts'
import type {LoginToken} from '../protocol/index.ts'

/** Who this machine's user is to the head of a rack; undefined: nobody has logged in, and the account on the head's node counts. */
export async function readLogin(rack: string, context: Pick<Context, 'env'>): Promise<LoginToken | undefined> {
  const file = fileOf(rack, context)
  const text = await textIfThere(file)
  if (text === undefined) return undefined
  const login = current<LoginToken>('login.token', JSON.parse(text), file)
  if (login.expiresAt > Date.now()) return login
  throw new CliError('REFUSED', `the login of ${login.user} to rack ${rack} has ended`, {
    hint: `flexrack login --rack ${rack}\nflexrack logout --rack ${rack}`,
  })
}

/** Holds a token: 0600 in a folder of 0700. */
export async function keepLogin(login: LoginToken, context: Pick<Context, 'env'>): Promise<void> {
  const file = fileOf(login.rack, context)
  await ensurePrivateFolder(join(file, '..'))
  await writeWhole(file, JSON.stringify(stamped('login.token', login)))
}

export async function dropLogin(rack: string, context: Pick<Context, 'env'>): Promise<void> {
  await rm(fileOf(rack, context), {force: true})
}

function fileOf(rack: string, {env}: Pick<Context, 'env'>): string {
  return join(userPaths(env).state, 'logins', `${encodeURIComponent(rack)}.json`)
}

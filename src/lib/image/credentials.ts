import {spawn} from 'node:child_process'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {CliError, Secret, textIfThere, type Context} from '../base/index.ts'

/** Who we are at a registry; `token`: an identity token, which is exchanged (OAuth 2 of the distribution project). */
export type Credentials = {user: string; password: Secret} | {token: Secret}

interface DockerConfig {
  auths?: Record<string, {auth?: string; username?: string; password?: string; identitytoken?: string}>
  credHelpers?: Record<string, string>
  credsStore?: string
}

const HELPER_MS = 20_000
const HELPER_BYTES = 1 << 20
const HUB = 'https://index.docker.io/v1/'

/**
 * As docker has kept them: config.json of $DOCKER_CONFIG, else of ~/.docker, with its helpers (docker-credential-NAME).
 * Undefined where there are none. Errors: REFUSED where a helper fails otherwise than by not knowing the registry.
 */
export async function credentialsFor(host: string, context: Context): Promise<Credentials | undefined> {
  const folder = context.env.DOCKER_CONFIG || join(context.env.HOME || homedir(), '.docker')
  const text = await textIfThere(join(folder, 'config.json'))
  if (text === undefined) return undefined
  const config = parse(text, join(folder, 'config.json'))
  const names =
    host === 'docker.io'
      ? [HUB, 'docker.io', 'registry-1.docker.io', 'index.docker.io']
      : [host, `https://${host}`, `https://${host}/v1/`, `https://${host}/v2/`]
  for (const name of names) {
    const helper = config.credHelpers?.[name] ?? config.credsStore
    const kept = helper === undefined ? undefined : await askHelper(helper, name, context)
    if (kept) return kept
    const entry = config.auths?.[name]
    if (entry?.identitytoken) return {token: new Secret(entry.identitytoken)}
    if (entry?.auth) {
      const plain = Buffer.from(entry.auth, 'base64').toString()
      const colon = plain.indexOf(':')
      if (colon > 0)
        return {user: plain.slice(0, colon), password: new Secret(plain.slice(colon + 1).replace(/\0+$/, ''))}
    }
    if (entry?.username !== undefined && entry.password !== undefined)
      return {user: entry.username, password: new Secret(entry.password)}
  }
  return undefined
}

function parse(text: string, file: string): DockerConfig {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? value : {}
  } catch (cause) {
    throw new CliError('USAGE', `${file} is not JSON`, {hint: 'correct it, or sign in anew: docker login', cause})
  }
}

/**
 * Its protocol: the registry on stdin, {Username, Secret} on stdout; the user `<token>` says that the secret is an
 * identity token.
 */
async function askHelper(helper: string, registry: string, {env, signal}: Context): Promise<Credentials | undefined> {
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(helper)) return undefined
  const program = `docker-credential-${helper}`
  const child = spawn(program, ['get'], {
    env,
    signal: AbortSignal.any([signal, AbortSignal.timeout(HELPER_MS)]),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (said.length < HELPER_BYTES) said += chunk.toString()
  })
  child.stdin.on('error', () => {}) // it ended early; its status tells
  child.stdin.end(registry)
  const status = await new Promise<number | string>((done) => {
    child.on('error', (error) => done(error.message))
    child.on('close', (code) => done(code ?? 'a signal'))
  })
  if (status !== 0) {
    if (/not found/i.test(said)) return undefined // it does not know this registry
    throw new CliError(
      'REFUSED',
      `${program} gives no credentials for ${registry} (${typeof status === 'number' ? `status ${status}` : status})`,
      {hint: `docker login ${registry}`},
    )
  }
  try {
    const {Username: user, Secret: secret} = JSON.parse(said) as {Username?: string; Secret?: string}
    if (!secret) return undefined
    return user === '<token>' ? {token: new Secret(secret)} : {user: user ?? '', password: new Secret(secret)}
  } catch (cause) {
    throw new CliError('REFUSED', `${program} answers with something that is not JSON`, {cause})
  }
}

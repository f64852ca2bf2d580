import {homedir} from 'node:os'
import {join} from 'node:path'
import {CliError, textIfThere} from '../base/index.ts'

type Section = Map<string, string>

/** Their values name files of this machine. */
const OF_A_FILE =
  /(?:^|_)file$|^(?:ca_cert|client_cert|client_key|key_file|pubkey_file|known_hosts_file|service_account_file)$/
/** Their values are programs of this machine. */
const OF_A_PROGRAM = /_command$|^(?:ssh|command)$/
/** Their values name other remotes: crypt, alias, union, combine, chunker, hasher. */
const OF_REMOTES = new Set(['remote', 'remotes', 'upstreams'])

/** `store` of `store:bucket/path`. Pure. */
export const remoteOf = (place: string): string => place.slice(0, place.indexOf(':'))

/**
 * What nodes need of rclone.conf to reach these remotes, and nothing else of it: their sections,
 * and those that these refer to. Variables such as RCLONE_CONFIG_STORE_TYPE come before the file,
 * and make a remote without it. Errors: NOT_FOUND for a remote that is not set up here,
 * CHECK_FAILED for one that would be something else on a node, or whose file is encrypted.
 */
export async function remotesOf(names: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  if (names.length === 0) return ''
  const home = env.HOME || homedir()
  const file = env.RCLONE_CONFIG || join(env.XDG_CONFIG_HOME || join(home, '.config'), 'rclone', 'rclone.conf')
  const text = (await textIfThere(file)) ?? ''
  const sections = text.startsWith('# Encrypted rclone') || text.includes('RCLONE_ENCRYPT_V') ? undefined : parse(text)
  const found = new Map<string, Section>()
  const take = (name: string, by: string | undefined): void => {
    if (found.has(name)) return
    const section = new Map([...(sections?.get(name) ?? []), ...fromVariables(name, env)])
    const type = section.get('type')
    if (type === undefined) {
      if (!sections) {
        throw new CliError('CHECK_FAILED', `${file} is encrypted, and flexrack does not ask for its password`, {
          hint: `export RCLONE_CONFIG_${variable(name)}_TYPE=... and the other settings of the remote`,
        })
      }
      const whose = by === undefined ? '' : `, which ${by} refers to`
      throw new CliError('NOT_FOUND', `rclone has no remote ${name} on this machine${whose}`, {
        hint: `rclone config create ${name} TYPE ...`,
        details: {remote: name, file},
      })
    }
    check(name, type, section)
    withAmazonsVariables(section, env)
    found.set(name, section)
    for (const [key, value] of section)
      if (OF_REMOTES.has(key)) for (const other of referred(name, key, value)) take(other, name)
  }
  for (const name of names) take(name, undefined)
  return [...found]
    .map(([name, section]) => `[${name}]\n${[...section].map(([key, value]) => `${key} = ${value}\n`).join('')}`)
    .join('\n')
}

/** As rclone's own reader takes it: `[name]`, `key = value`, lines of `#` and `;`. */
function parse(text: string): Map<string, Section> {
  const sections = new Map<string, Section>()
  let section: Section | undefined
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) continue
    const name = /^\[(.+)\]$/.exec(trimmed)?.[1]
    if (name !== undefined) {
      section = sections.get(name) ?? new Map()
      sections.set(name, section)
      continue
    }
    const at = trimmed.indexOf('=')
    if (section && at > 0) section.set(trimmed.slice(0, at).trim(), trimmed.slice(at + 1).trim())
  }
  return sections
}

const variable = (name: string): string => name.toUpperCase().replaceAll('-', '_')

function fromVariables(name: string, env: NodeJS.ProcessEnv): Section {
  const start = `RCLONE_CONFIG_${variable(name)}_`
  return new Map(
    Object.entries(env).flatMap(([key, value]) =>
      key.startsWith(start) && value !== undefined ? [[key.slice(start.length).toLowerCase(), value] as const] : [],
    ),
  )
}

function check(name: string, type: string, section: Section): void {
  if (type === 'local') {
    throw new CliError('CHECK_FAILED', `the remote ${name} is a folder of whatever machine reads it`, {
      hint: 'name folders of nodes as volumes of the rack file',
    })
  }
  for (const [key, value] of section) {
    if (/[\r\n\0]/.test(value)) throw new CliError('CHECK_FAILED', `${key} of the remote ${name} has a line break`)
    if (value === '') continue
    if (OF_A_PROGRAM.test(key)) {
      const message = `the remote ${name} runs a program of this machine (${key}), which nodes do not have`
      throw new CliError('CHECK_FAILED', message, {hint: 'set up a remote with keys of its own'})
    }
    if (OF_A_FILE.test(key)) {
      const message = `the remote ${name} reads a file of this machine (${key} = ${value}), which does not travel`
      throw new CliError('CHECK_FAILED', message, {
        hint: 'put its content into the remote, as service_account_credentials or key_pem',
      })
    }
  }
}

/**
 * `env_auth`: what stands in the variables of this machine goes along, as nodes have others; where
 * there is nothing, a node's own counts.
 */
function withAmazonsVariables(section: Section, env: NodeJS.ProcessEnv): void {
  if (
    section.get('type') !== 's3' ||
    section.get('env_auth') !== 'true' ||
    !env.AWS_ACCESS_KEY_ID ||
    !env.AWS_SECRET_ACCESS_KEY
  )
    return
  section
    .set('env_auth', 'false')
    .set('access_key_id', env.AWS_ACCESS_KEY_ID)
    .set('secret_access_key', env.AWS_SECRET_ACCESS_KEY)
  if (env.AWS_SESSION_TOKEN) section.set('session_token', env.AWS_SESSION_TOKEN)
}

/** Names of remotes in `crypted:bucket`, `a=one: b=two:path`. */
function referred(name: string, key: string, value: string): string[] {
  return value
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const place = key === 'upstreams' ? word.replace(/^[^=:]*=/, '') : word
      const other = /^([A-Za-z0-9_][A-Za-z0-9_.+@-]*):/.exec(place)?.[1]
      if (other === undefined) {
        throw new CliError('CHECK_FAILED', `the remote ${name} leads to ${place}, which is no remote of rclone.conf`, {
          hint: 'name folders of nodes as volumes of the rack file',
        })
      }
      return other
    })
}

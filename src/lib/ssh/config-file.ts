import {readFile, readdir} from 'node:fs/promises'
import {dirname, isAbsolute, join} from 'node:path'
import type SSHConfig from 'ssh-config'
import {CliError} from '../base/index.ts'
import {matchesPattern} from './pattern.ts'

/** What the files say about one host: keys in lower case, the first value wins, IdentityFile adds up. */
export type Settings = Map<string, string[]>

export interface ConfigQuestion {
  /** The name as the user wrote it. */
  host: string
  user?: string
  localUser: string
  home: string
}

type Line = SSHConfig[number]

/**
 * Reads ~/.ssh/config and /etc/ssh/ssh_config for one host. A file that cannot be parsed throws; one that is not there
 * is empty.
 */
export async function readConfig(question: ConfigQuestion): Promise<Settings> {
  const settings: Settings = new Map()
  for (const file of [join(question.home, '.ssh', 'config'), '/etc/ssh/ssh_config'])
    await applyFile(file, question, settings, 0)
  return settings
}

async function applyFile(file: string, question: ConfigQuestion, settings: Settings, depth: number): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text === '') return
  const {parse} = await import('ssh-config')
  let lines: SSHConfig
  try {
    lines = parse(text)
  } catch (error) {
    throw new CliError('NODE_UNREACHABLE', `${file} cannot be read as an ssh configuration`, {
      details: {file, reason: (error as Error).message},
      hint: `see what is wrong in it with: ssh -G -F ${file} ${question.host}`,
      cause: error,
    })
  }
  await apply(lines, file, question, settings, depth)
}

async function apply(
  lines: Line[],
  file: string,
  question: ConfigQuestion,
  settings: Settings,
  depth: number,
): Promise<void> {
  for (const line of lines) {
    if (!('param' in line)) continue
    const key = line.param.toLowerCase()
    const values = typeof line.value === 'string' ? [line.value] : line.value.map((part) => part.val)
    if (key === 'host') {
      if (matchesPattern(values, question.host))
        await apply((line as {config: SSHConfig}).config, file, question, settings, depth)
    } else if (key === 'match') {
      const section = line as {config: SSHConfig; criteria: Record<string, unknown>}
      if (meetsAll(section.criteria, question, settings)) await apply(section.config, file, question, settings, depth)
    } else if (key === 'include') {
      if (depth >= 16) throw new CliError('NODE_UNREACHABLE', `${file} includes itself`, {details: {file}})
      for (const pattern of values) {
        for (const included of await expandIncluded(pattern, file, question.home))
          await applyFile(included, question, settings, depth + 1)
      }
    } else if (key === 'identityfile') {
      settings.set(key, [...(settings.get(key) ?? []), ...values])
    } else if (!settings.has(key)) {
      settings.set(key, key === 'proxycommand' ? [asWritten(line.value)] : values)
    }
  }
}

/** A command for a shell, with its own quotes. */
function asWritten(value: Extract<Line, {param: string}>['value']): string {
  if (typeof value === 'string') return value
  return value
    .map(({val, separator, quoted}, at) => `${at === 0 ? '' : separator}${quoted ? `"${val}"` : val}`)
    .join('')
}

/**
 * Match lines whose condition we can know; `exec` runs nothing and, like conditions that ask for a second pass, does
 * not hold.
 */
function meetsAll(criteria: Record<string, unknown>, question: ConfigQuestion, settings: Settings): boolean {
  const user = question.user ?? settings.get('user')?.[0] ?? question.localUser
  const subjects: Record<string, string> = {
    host: settings.get('hostname')?.[0] ?? question.host,
    originalhost: question.host,
    user,
    localuser: question.localUser,
  }
  return Object.entries(criteria).every(([name, value]) => {
    const negated = name.startsWith('!')
    const key = name.replace(/^!/, '').toLowerCase()
    if (key === 'all') return !negated
    const subject = subjects[key]
    if (subject === undefined || typeof value !== 'string') return false
    return matchesPattern(value.split(','), subject) !== negated
  })
}

/** Relative names are below ~/.ssh, or beside a system file; wildcards may stand in any part. */
async function expandIncluded(pattern: string, file: string, home: string): Promise<string[]> {
  const tilde = pattern.replace(/^~(?=\/)/, home)
  const base = file.startsWith('/etc/') ? dirname(file) : join(home, '.ssh')
  const [first = '', ...parts] = (isAbsolute(tilde) ? tilde : join(base, tilde)).split('/')
  let found = [first]
  for (const part of parts) {
    const next: string[] = []
    for (const folder of found) {
      if (!/[*?]/.test(part)) next.push(`${folder}/${part}`)
      else {
        const names = await readdir(folder === '' ? '/' : folder).catch(() => [])
        next.push(
          ...names
            .filter((name) => !name.startsWith('.') && matchesPattern([part], name))
            .sort()
            .map((name) => `${folder}/${name}`),
        )
      }
    }
    found = next
  }
  return found
}

import {CliError} from '../base/index.ts'
import {quote} from '../ssh/index.ts'
import type {SshHost} from './types.ts'

export const HEADER = '# Made by `flexrack workspace ssh-config`, which writes it anew each time: do not edit.'
const MADE = '# ~/.ssh/config was made with it.'
const MARK = '# flexrack '

/** What a host's lines need to know beside the host itself. */
export interface HostSite {
  knownHosts: string
  key: string
  /** The words that start flexrack. */
  program: string[]
  /** FLEXRACK_HOME where it is set. */
  home?: string
}

export interface HostsFile {
  hosts: SshHost[]
  /** ~/.ssh/config did not exist before. */
  madeConfig: boolean
}

/** The file as text. Pure. Errors: LOCAL_FAILED for a path that OpenSSH cannot be told of. */
export function hostsText({hosts, madeConfig}: HostsFile, site: HostSite): string {
  return [HEADER, ...(madeConfig ? [MADE] : []), ...hosts.flatMap((host) => ['', ...hostLines(host, site)]), ''].join(
    '\n',
  )
}

/** The same back. Pure. Errors: CONFLICT for a file that is not ours; lines that are not whole are passed over. */
export function readHosts(text: string, file: string): HostsFile {
  if (!text.startsWith(HEADER)) {
    throw new CliError('CONFLICT', `${file} is not a file of flexrack, which would overwrite it`, {
      hint: `mv ${quote([file])} ${quote([`${file}.old`])}`,
      details: {file},
    })
  }
  const lines = text.split('\n')
  const hosts = lines
    .filter((line) => line.startsWith(MARK))
    .flatMap((line): SshHost[] => {
      try {
        const value = JSON.parse(line.slice(MARK.length)) as SshHost
        return isHost(value) ? [value] : []
      } catch {
        return []
      }
    })
  return {hosts, madeConfig: lines.includes(MADE)}
}

/** known_hosts with the pinned keys, each under a name of its own. Pure. */
export function knownHostsText(hosts: readonly SshHost[]): string {
  return hosts.map((host) => `${keyAlias(host)} ${host.hostKey}\n`).join('')
}

/** Whether all of it has the form that may stand in a configuration of SSH. Pure. */
export function isHost(value: SshHost): boolean {
  const {alias, hostKey, user, node, project, rack, rackFile, folder, first} = value
  const words = [node, project, rack, rackFile, ...(folder === null ? [] : [folder])]
  return (
    /^ws-[a-z0-9-]+$/.test(alias) &&
    isHostKey(hostKey) &&
    isUser(user) &&
    typeof first === 'boolean' &&
    words.every((one) => typeof one === 'string' && one !== '' && !/\p{Cc}/u.test(one))
  )
}

export function isHostKey(text: unknown): text is string {
  return typeof text === 'string' && /^ssh-ed25519 [A-Za-z0-9+/=]{40,100}$/.test(text)
}

export function isUser(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}\$?$/.test(text)
}

function hostLines(host: SshHost, site: HostSite): string[] {
  const words = [
    ...(site.home === undefined ? [] : ['env', `FLEXRACK_HOME=${site.home}`]),
    ...site.program,
    'workspace',
    'stdio',
    host.project,
    '--rack',
    host.rackFile,
    '--on',
    host.node,
    ...(host.folder === null ? [] : ['--project', host.folder]),
  ]
  return [
    `${MARK}${JSON.stringify(host)}`,
    `Host ${host.alias}`,
    `  User ${host.user}`,
    `  HostKeyAlias ${keyAlias(host)}`,
    `  UserKnownHostsFile ${path(site.knownHosts)}`,
    '  GlobalKnownHostsFile /dev/null',
    '  StrictHostKeyChecking yes',
    '  UpdateHostKeys no',
    '  CheckHostIP no',
    `  IdentityFile ${path(site.key)}`,
    '  IdentitiesOnly yes',
    '  PreferredAuthentications publickey',
    `  ProxyCommand ${command(words)}`,
  ]
}

function keyAlias({alias}: SshHost): string {
  return `flexrack-${alias}`
}

/** The rest of the line goes to the user's shell, after tokens (ssh_config(5)). */
function command(words: string[]): string {
  refuse(words, /[\n\r\0]/)
  return quote(words).replaceAll('%', '%%')
}

/** These take tokens, and variables, which cannot be quoted. */
function path(text: string): string {
  refuse([text], /["\\\n\r\0]|\$\{/)
  return `"${text.replaceAll('%', '%%')}"`
}

function refuse(words: string[], letters: RegExp): void {
  const bad = words.find((one) => letters.test(one))
  if (bad !== undefined)
    throw new CliError('LOCAL_FAILED', `OpenSSH cannot be told of the path ${JSON.stringify(bad)}`, {
      hint: 'set FLEXRACK_HOME to a folder with a plain name',
      details: {path: bad},
    })
}

import {homedir, userInfo} from 'node:os'
import {join} from 'node:path'
import {CliError} from '../base/index.ts'
import {readConfig, type Settings} from './config-file.ts'
import {knownHostsName} from './known-hosts.ts'
import {expandProxyCommand} from './proxy-command.ts'
import type {SshTarget} from './types.ts'

/** Where to connect and with what: an SshTarget after ~/.ssh/config and the defaults. */
export interface Endpoint {
  /** For messages: the node's name, or what a hop is for. */
  label: string
  host: string
  port: number
  user: string
  /** Absolute paths, in order. */
  identityFiles: string[]
  /** True where the files were named by somebody; false for ssh's usual ones. */
  identitiesNamed: boolean
  /** Offer no other keys of the agent. */
  identitiesOnly: boolean
  /** Socket of the agent. */
  agent?: string
  /** The user's files; a new key is recorded in the first. */
  knownHostsFiles: string[]
  /** The machine's files, only read. */
  globalKnownHostsFiles: string[]
  /** The name looked up in known_hosts. */
  knownAs: string
  /** The same without its port, where a match of the very key also counts. */
  bareName?: string
  hashKnownHosts: boolean
  /** As in SshTarget. */
  wayOut?: string
  until?: string
  /** The hop before this one. */
  jump?: Endpoint
  /** A command whose stdin and stdout are the connection, in place of one over TCP. */
  proxyCommand?: string
}

/**
 * Everything ssh would take into account for a target: what the target says itself, then ~/.ssh/config, then the
 * defaults.
 */
export async function resolveTarget(target: SshTarget, env: NodeJS.ProcessEnv): Promise<Endpoint> {
  return resolve(target, env, [])
}

async function resolve(target: SshTarget, env: NodeJS.ProcessEnv, path: string[]): Promise<Endpoint> {
  const home = env.HOME || homedir()
  const localUser = userInfo().username
  const settings = await readConfig({
    host: target.host,
    localUser,
    home,
    ...(target.user === undefined ? {} : {user: target.user}),
  })
  const first = (key: string): string | undefined => settings.get(key)?.[0]
  const host = (first('hostname') ?? target.host).replaceAll('%h', target.host)
  const port = portOf(target, first('port'))
  const user = target.user ?? first('user') ?? localUser
  const expand = (text: string): string =>
    expandTokens(text, {d: home, h: host, n: target.host, p: String(port), r: user, u: localUser}, home, env)

  const named = [...(target.identityFile ? [target.identityFile] : []), ...(settings.get('identityfile') ?? [])]
    .filter((file) => file !== 'none')
    .map(expand)
  const alias = first('hostkeyalias')
  const jump = await resolveJump(target, settings, env, path)
  const proxy = jump ? undefined : proxyCommandOf(target, settings)
  const agent = expandAgent(first('identityagent'), env, expand)
  return {
    label: target.name,
    host,
    port,
    user,
    identityFiles:
      named.length > 0 ? named : ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => join(home, '.ssh', name)),
    identitiesNamed: named.length > 0,
    identitiesOnly: first('identitiesonly')?.toLowerCase() === 'yes',
    knownHostsFiles: target.knownHosts
      ? [expand(target.knownHosts)]
      : splitFiles(settings.get('userknownhostsfile'), ['~/.ssh/known_hosts', '~/.ssh/known_hosts2']).map(expand),
    globalKnownHostsFiles: target.knownHosts
      ? []
      : splitFiles(settings.get('globalknownhostsfile'), ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']).map(
          expand,
        ),
    knownAs: alias?.toLowerCase() ?? knownHostsName(host, port),
    hashKnownHosts: first('hashknownhosts')?.toLowerCase() === 'yes',
    ...(alias === undefined && port !== 22 ? {bareName: host.toLowerCase()} : {}),
    ...(agent === undefined ? {} : {agent}),
    ...(target.wayOut === undefined ? {} : {wayOut: target.wayOut}),
    ...(target.until === undefined ? {} : {until: target.until}),
    ...(jump ? {jump} : {}),
    ...(proxy === undefined
      ? {}
      : {
          proxyCommand: expandProxyCommand(proxy, target.name, {h: host, n: target.host, p: String(port), r: user}),
        }),
  }
}

/** `none` in the place of either is for both, as ssh has it. */
function proxyCommandOf(target: SshTarget, settings: Settings): string | undefined {
  const command = settings.get('proxycommand')?.[0]
  if (command === undefined || command.toLowerCase() === 'none' || target.proxyJump !== undefined) return undefined
  return isFirst('proxycommand', 'proxyjump', settings) ? command : undefined
}

/** ssh_config(5): whichever of the two is specified first counts. */
function isFirst(one: string, other: string, settings: Settings): boolean {
  const keys = [...settings.keys()]
  return !settings.has(other) || keys.indexOf(one) < keys.indexOf(other)
}

/** `a,b` means: connect to a, from there to b, from there to the target. Every hop has its own configuration. */
async function resolveJump(
  target: SshTarget,
  settings: Settings,
  env: NodeJS.ProcessEnv,
  path: string[],
): Promise<Endpoint | undefined> {
  const configured = isFirst('proxyjump', 'proxycommand', settings) ? settings.get('proxyjump')?.[0] : undefined
  const spec = target.proxyJump ?? configured
  if (spec === undefined || spec.toLowerCase() === 'none') return undefined
  let last: Endpoint | undefined
  for (const hop of spec.split(',')) {
    const parsed = parseHop(hop.trim())
    const seen = `${parsed.host}:${parsed.port ?? ''}`
    if (path.includes(seen) || path.length > 8)
      throw new CliError(
        'NODE_UNREACHABLE',
        `the jump hosts of ${target.name} go round in a circle at ${parsed.host}`,
        {details: {node: target.name, hops: [...path, seen]}},
      )
    const inherited: Partial<SshTarget> = {
      ...(target.knownHosts ? {knownHosts: target.knownHosts} : {}),
      ...(last ? {proxyJump: 'none'} : {}),
    }
    const endpoint = await resolve(
      {name: `${parsed.host}, the jump host of ${target.name}`, ...parsed, ...inherited},
      env,
      [...path, seen],
    )
    const own = target.identityFile ? [expandTokens(target.identityFile, {}, env.HOME || homedir(), env)] : []
    last = {
      ...endpoint,
      // The rack file names one key and one known_hosts for a node; whoever wrote it expects them to do for the way
      // there as well.
      identityFiles: endpoint.identitiesNamed
        ? [...endpoint.identityFiles, ...own]
        : [...own, ...endpoint.identityFiles],
      ...(last ? {jump: last} : {}),
    }
  }
  return last
}

function portOf({port, name, host}: SshTarget, configured: string | undefined): number {
  const text = configured ?? '22'
  const found = port ?? (/^\d{1,5}$/.test(text) ? Number(text) : 0)
  if (found >= 1 && found <= 65_535) return found
  throw new CliError('NODE_UNREACHABLE', `the port of ${name} is ${JSON.stringify(port ?? text)}, which is none`, {
    details: {node: name, host},
    hint: `ssh -G ${host}`,
  })
}

function parseHop(text: string): {host: string; port?: number; user?: string} {
  const found = /^(?:ssh:\/\/)?(?:([^@\s]+)@)?(?:\[([^\]\s]+)\]|([^:\s]+))(?::(\d+))?\/?$/.exec(text)
  const host = found?.[2] ?? found?.[3]
  if (!found || host === undefined)
    throw new CliError('NODE_UNREACHABLE', `${JSON.stringify(text)} is not a jump host: write user@host:port`, {
      details: {jump: text},
    })
  return {
    host,
    ...(found[1] === undefined ? {} : {user: found[1]}),
    ...(found[4] === undefined ? {} : {port: Number(found[4])}),
  }
}

/** ssh_config(5), TOKENS and ENVIRONMENT VARIABLES: `~`, %-letters and ${NAME}. */
function expandTokens(text: string, tokens: Record<string, string>, home: string, env: NodeJS.ProcessEnv): string {
  return text
    .replace(/^~(?=\/|$)/, home)
    .replace(/%(.)/g, (all, letter: string) => (letter === '%' ? '%' : (tokens[letter] ?? all)))
    .replace(/\$\{(\w+)\}/g, (_all, name: string) => env[name] ?? '')
}

function expandAgent(
  configured: string | undefined,
  env: NodeJS.ProcessEnv,
  expand: (text: string) => string,
): string | undefined {
  if (configured === 'none') return undefined
  if (configured === undefined || configured === 'SSH_AUTH_SOCK') return env.SSH_AUTH_SOCK || undefined
  return configured.startsWith('$') && !configured.startsWith('${') ? env[configured.slice(1)] : expand(configured)
}

function splitFiles(values: string[] | undefined, usual: string[]): string[] {
  return (values ?? usual).filter((file) => file !== 'none')
}

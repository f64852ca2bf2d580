import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {createServer, type AddressInfo} from 'node:net'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {promisify} from 'node:util'
import type {SshTarget} from '../../src/lib/ssh/index.ts'

const run = promisify(execFile)
const SSHD = '/usr/sbin/sshd'

export interface SshdOptions {
  /** More lines of sshd_config; they come first, so they win. */
  config?: string
  /**
   * Environment of the sessions, besides HOME; services there leave crontab and units alone unless it says so (sshd
   * takes one SetEnv only, so not in `config`).
   */
  env?: Record<string, string>
  /** Types for ssh-keygen -t; ed25519 alone by default. */
  hostKeyTypes?: string[]
  /** Put into the home folder: path and content. */
  homeFiles?: Record<string, string>
  /** Where it listens; 127.0.0.1 by default. */
  address?: string
  /** What its command line begins with, e.g. `ip netns exec NAME`. */
  inside?: string[]
  /** HOME of the sessions, made before and left by us; a folder of its own by default. */
  home?: string
}

/**
 * A real OpenSSH server, on loopback unless told otherwise. Everything about it is in a temporary folder, the sessions'
 * HOME too.
 */
export interface TestSshd {
  port: number
  folder: string
  home: string
  user: string
  /** A private key that may log in, and its public line. */
  clientKey: string
  /** authorized_keys of the server. */
  authorizedKeys: string
  /** Paths of the host keys' public files, by type. */
  hostKeys: Record<string, string>
  /** A known_hosts file that knows every host key of this server. */
  knownHosts: string
  /** What is needed to connect; give it other parts to see it fail. */
  target(name: string, parts?: Partial<SshTarget>): SshTarget
  /** What the server logged so far. */
  log(): string
  /** Starts the server again, at the same port, after it was killed. */
  start(): Promise<void>
  /** Ends the server and every session. */
  stop(): Promise<void>
}

/** Starts one. Installs Debian's openssh-server first where it is missing and we are root. */
export async function startSshd(options: SshdOptions = {}): Promise<TestSshd> {
  await needSshd()
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-sshd-'))
  const home = options.home ?? join(folder, 'home')
  if (options.home === undefined) await mkdir(home, {mode: 0o700})
  for (const [path, content] of Object.entries(options.homeFiles ?? {})) await writeFile(join(home, path), content)
  const clientKey = await makeKey(join(folder, 'client'))
  const hostKeys: Record<string, string> = {}
  for (const type of options.hostKeyTypes ?? ['ed25519'])
    hostKeys[type] = `${await makeKey(join(folder, `host_${type}`), {type})}.pub`
  const authorizedKeys = join(folder, 'authorized_keys')
  await writeFile(authorizedKeys, await readFile(`${clientKey}.pub`))

  const port = await freePort()
  const address = options.address ?? '127.0.0.1'
  const knownHosts = join(folder, 'known_hosts')
  const publicKeys = await Promise.all(Object.values(hostKeys).map((file) => readFile(file, 'utf8')))
  await writeFile(
    knownHosts,
    publicKeys.map((line) => `[${address}]:${port} ${line.split(' ').slice(0, 2).join(' ')}\n`).join(''),
  )
  const config = join(folder, 'sshd_config')
  await writeFile(
    config,
    [
      options.config ?? '',
      `ListenAddress ${address}:${port}`,
      ...Object.values(hostKeys).map((file) => `HostKey ${file.replace(/\.pub$/, '')}`),
      `AuthorizedKeysFile ${authorizedKeys}`,
      `SetEnv ${Object.entries({FLEXRACK_REBOOT: 'stay', ...options.env, HOME: home})
        .map(([name, value]) => `"${name}=${value}"`)
        .join(' ')}`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'MaxStartups 100',
      'UseDNS no',
      'LogLevel VERBOSE',
      '',
    ].join('\n'),
  )
  const launched = [await launch(config, options.inside ?? [])]
  const user = userInfo().username
  return {
    port,
    folder,
    home,
    user,
    clientKey,
    authorizedKeys,
    hostKeys,
    knownHosts,
    log: () => launched.map((one) => one.log()).join('\n'),
    async start() {
      launched.push(await launch(config, options.inside ?? []))
    },
    target: (name, parts = {}) => ({name, host: address, port, user, identityFile: clientKey, knownHosts, ...parts}),
    async stop() {
      for (const {server} of launched) {
        for (const pid of await descendants(server.pid as number)) killQuietly(pid)
        if (server.exitCode === null && server.signalCode === null) {
          server.kill('SIGKILL')
          await once(server, 'exit')
        }
      }
      await rm(folder, {recursive: true, force: true})
    },
  }
}

/** Makes a key pair and returns the private key's path. */
export async function makeKey(
  file: string,
  options: {type?: string; passphrase?: string; comment?: string; pem?: boolean} = {},
): Promise<string> {
  const type = options.type ?? 'ed25519'
  await run('ssh-keygen', [
    '-q',
    '-t',
    type,
    ...(type === 'rsa' ? ['-b', '2048'] : []),
    ...(options.pem ? ['-m', 'PEM'] : []),
    '-N',
    options.passphrase ?? '',
    '-C',
    options.comment ?? 'test',
    '-f',
    file,
  ])
  return file
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const {port} = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function needSshd(): Promise<void> {
  if (!existsSync(SSHD)) {
    if (process.getuid?.() !== 0) throw new Error(`these tests need ${SSHD}: install Debian's openssh-server`)
    await run('apt-get', ['update', '-qq'])
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'openssh-server', 'openssh-client'], {
      env: {...process.env, DEBIAN_FRONTEND: 'noninteractive'},
    })
  }
  // sshd as root wants its empty folder for privilege separation, which a service file would make.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', {recursive: true, mode: 0o755})
}

async function launch(config: string, inside: string[]): Promise<{server: ChildProcess; log: () => string}> {
  // The shell ends the server when its stdin does, so that nothing is left when the test's own process dies.
  const server = spawn('sh', ['-c', '"$@" & read -r _; kill $!', 'sh', ...inside, SSHD, '-D', '-e', '-f', config], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    createInterface({input: server.stderr as NodeJS.ReadableStream}).on('line', (line) => {
      lines.push(line)
      if (line.startsWith('Server listening on')) resolve()
    })
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`sshd ended with ${code}:\n${lines.join('\n')}`)))
  })
  return {server, log: () => lines.join('\n')}
}

/** Sessions are children of the server; killing the server alone leaves them. */
async function descendants(root: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const isBelow = (pid: number): boolean => {
    for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) if (at === root) return true
    return false
  }
  return [...parents.keys()].filter(isBelow)
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has just ended
  }
}

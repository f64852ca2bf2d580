import {execFileSync, spawn, spawnSync, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, statSync, writeFileSync} from 'node:fs'
import {chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {startSshd, type TestSshd} from './sshd.ts'

const SCRIPT = resolve(import.meta.dirname, '../fixtures/second-user/hostile.py')
/** Every account can run it; that of the tests may lie where only root reads. */
const PYTHON = '/usr/bin/python3'

/** What is missing here for two accounts on one node; undefined where nothing is. */
export function whyNoAccounts(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make two accounts'
  for (const program of ['/usr/sbin/useradd', '/usr/sbin/userdel', '/usr/bin/setpriv', PYTHON])
    if (!existsSync(program)) return `there is no ${program}`
  if ((statSync('/dev/null').mode & 0o006) !== 0o006) return '/dev/null is closed to other accounts'
  if (spawnSync(PYTHON, ['-c', 'import venv, ensurepip']).status !== 0) return `${PYTHON} cannot make environments`
  return undefined
}

export interface Account {
  name: string
  uid: number
  gid: number
  home: string
}

/** Something of the second account that goes on until it is ended. */
export interface Deed {
  child: ChildProcess
  end(): Promise<void>
}

/** One machine with two accounts: the owner's, which a rack of two nodes logs in to, and another one's. */
export interface TwoAccounts {
  owner: Account
  other: Account
  /** Where it was asked for. */
  third: Account | undefined
  sshd: TestSshd
  /** Both nodes are the owner's account, with a folder each: what nodes say to each other is there to be disturbed. */
  rack: Rack
  /** flexrack's folders, by node. */
  roots: string[]
  fleet: Fleet
  /** The first node. */
  host: Host
  context: Context
  /** Everything of the test is below; everybody may enter it. */
  folder: string
  /** Stands for /run/lock: root's, sticky, writable for all; a small file system of its own where that can be had. */
  place: string
  /** Whether `place` is a file system of its own. */
  isSmall: boolean
  /** Does one deed of test/fixtures/second-user/hostile.py as the second account, and gives its answer. */
  otherDoes<T>(deed: string, given: unknown): Promise<T>
  /** Begins one that goes on; resolves once it is at it. */
  otherBegins(deed: string, given: unknown): Promise<Deed>
  /** Runs Python as the owner, without their SSH session. Gives stdout; rejects with stderr. */
  ownerRuns(program: string, args: string[], env?: Record<string, string>): Promise<string>
  /** Live processes of an account. */
  processesOf(account: Account): Promise<number[]>
  stop(): Promise<void>
}

export async function startTwoAccounts(options: {third?: boolean} = {}): Promise<TwoAccounts> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-second-'))
  await chmod(folder, 0o755)
  const accounts: Account[] = []
  const undo: (() => Promise<unknown> | unknown)[] = [() => rm(folder, {recursive: true, force: true})]
  const stop = async (): Promise<void> => {
    for (const one of undo.toReversed()) await one()
  }
  try {
    undo.push(() => accounts.forEach(removeAccount))
    for (const letter of options.third ? ['a', 'b', 'c'] : ['a', 'b'])
      accounts.push(await makeAccount(`fx${letter}${process.pid}`, folder))
    const [owner, other, third] = accounts as [Account, Account, Account | undefined]
    const place = join(folder, 'lock')
    await mkdir(place)
    const isSmall =
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k,mode=1777', 'flexrack-test', place]).status === 0
    if (isSmall) undo.push(() => spawnSync('umount', ['-l', place]))
    else await chmod(place, 0o1777)
    // As a login has it, not as the tests have it: what another user can use up is what a user really has.
    const sshd = await startSshd({
      home: owner.home,
      env: {FLEXRACK_RESERVATIONS: place, FLEXRACK_SHARES: place},
      inside: ['prlimit', '--nofile=1024:4096'],
    })
    undo.push(() => sshd.stop())
    await chmod(sshd.folder, 0o711) // sshd reads it as who logs in
    await chmod(sshd.authorizedKeys, 0o644)
    const roots = ['.flexrack', '.flexrack-2'].map((name) => join(owner.home, name))
    const nodes = roots.map((root, index) => ({
      ...sshd.target(`shared-${index + 1}`, {user: owner.name}),
      root,
      environments: join(owner.home, '.environments'),
      labels: {},
    }))
    const rack: Rack = {
      name: 'shared',
      path: join(folder, 'shared.yaml'),
      nodes,
      head: {node: 'shared-1', bind: '127.0.0.1'},
    }
    const kept = join(folder, 'kept')
    await mkdir(kept, {mode: 0o700})
    const context = makeContext({env: {...process.env, FLEXRACK_HOME: kept}})
    const fleet = openFleet(rack.nodes, context)
    undo.push(() => fleet.close())
    const host = await openHost(fleet, nodes[0]!, context)
    const source = await readFile(SCRIPT, 'utf8')
    let deeds = 0
    const begin = (deed: string, given: unknown): ChildProcess => {
      // An argument of a program has 128 KiB (MAX_ARG_STRLEN of Linux), and all paths of two nodes are more.
      const told = join(folder, `deed-${++deeds}.json`)
      writeFileSync(told, JSON.stringify(given), {mode: 0o644})
      const child = spawn('prlimit', ['--nofile=16384:16384', ...become(other), PYTHON, '-I', '-', deed, told], {
        cwd: '/',
        env: {PATH: '/usr/bin:/bin'},
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      child.stdin?.end(source)
      return child
    }
    return {
      owner,
      other,
      third,
      sshd,
      rack,
      roots,
      fleet,
      host,
      context,
      folder,
      place,
      isSmall,
      stop,
      processesOf,
      otherDoes: async <T>(deed: string, given: unknown) => JSON.parse(await outputOf(begin(deed, given), deed)) as T,
      otherBegins: async (deed, given) => {
        const child = begin(deed, given)
        let said = ''
        child.stderr?.on('data', (data) => (said += String(data)))
        await Promise.race([
          once(child.stdout!, 'data'),
          once(child, 'exit').then(() => Promise.reject(new Error(`${deed} ended: ${said}`))),
        ])
        const exit = once(child, 'exit')
        return {
          child,
          end: async () => (
            child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'),
            await exit,
            undefined
          ),
        }
      },
      ownerRuns: async (program, args, env = {}) => {
        const child = spawn(become(owner)[0]!, [...become(owner).slice(1), PYTHON, '-I', '-', ...args], {
          cwd: '/',
          env: {PATH: '/usr/bin:/bin', HOME: owner.home, ...env},
        })
        child.stdin.end(program)
        return outputOf(child, 'the program of the owner')
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function makeAccount(name: string, folder: string): Promise<Account> {
  const home = join(folder, name)
  // A password that is `*` and not `!`: sshd lets nobody into an account that is locked.
  execFileSync('useradd', ['-M', '-r', '-p', '*', '-d', home, '-s', '/bin/sh', name], {stdio: 'pipe'})
  const [uid, gid] = ['-u', '-g'].map((what) => Number(execFileSync('id', [what, name], {encoding: 'utf8'}))) as [
    number,
    number,
  ]
  await mkdir(home)
  await chmod(home, 0o755) // open, as many sites have it: what is flexrack's own keeps itself closed
  await chown(home, uid, gid)
  return {name, uid, gid, home}
}

function removeAccount(account: Account): void {
  // -1 means every process that this user may signal, which are the account's own and no others.
  for (let round = 0; round < 3; round++)
    spawnSync('setpriv', [...become(account).slice(1), 'sh', '-c', 'kill -KILL -1'])
  const left = spawnSync('userdel', [account.name], {encoding: 'utf8'})
  if (left.status !== 0) throw new Error(`the account ${account.name} is left behind: ${left.stderr}`)
}

function become({uid, gid}: Account): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
}

async function outputOf(child: ChildProcess, what: string): Promise<string> {
  let out = ''
  let said = ''
  child.stdout?.on('data', (data) => (out += String(data)))
  child.stderr?.on('data', (data) => (said += String(data)))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}: ${said.slice(-3000)}`)
  return out
}

async function processesOf({uid}: Account): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '')
    if (new RegExp(`^Uid:\\t${uid}\\t`, 'm').test(status) && !/^State:\tZ/m.test(status)) found.push(Number(name))
  }
  return found
}

/** TCP ports and unix sockets on which the processes of an account listen. */
export async function listenersOf(
  account: Account,
): Promise<{ports: [address: string, port: number][]; sockets: string[]}> {
  const rows = async (file: string): Promise<string[][]> =>
    (await readFile(`/proc/net/${file}`, 'utf8'))
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
  const listening = (row: string[]): boolean => row[3] === '0A' && Number(row[7]) === account.uid
  const portOf = (row: string[]): number => Number.parseInt(row[1]!.split(':')[1]!, 16)
  const ports = [
    ...(await rows('tcp')).filter(listening).map((row): [string, number] => ['127.0.0.1', portOf(row)]),
    ...(await rows('tcp6').catch(() => [])).filter(listening).map((row): [string, number] => ['::1', portOf(row)]),
  ]
  const sockets = (await rows('unix'))
    .map((row) => row[7] ?? '')
    .filter((path) => path.startsWith(account.home) || path.startsWith('@flexrack'))
  return {ports, sockets}
}

/** A file of an account, 0600 or as told; its path. */
export async function fileOf(account: Account, path: string, text: string, mode = 0o600): Promise<string> {
  await writeFile(path, text, {mode})
  await chmod(path, mode)
  await chown(path, account.uid, account.gid)
  return path
}

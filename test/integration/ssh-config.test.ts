import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {makeContext, silentReporter} from '../../src/lib/base/index.ts'
import {forEachNode, openFleet, type Fleet, type SshTarget} from '../../src/lib/ssh/index.ts'
import {freePort, makeKey, startSshd, type TestSshd} from '../support/sshd.ts'

let inner: TestSshd
let jump: TestSshd
let closedJump: TestSshd
let home: string
const fleets: Fleet[] = []
const told: string[] = []

beforeAll(async () => {
  ;[inner, jump, closedJump] = await Promise.all([
    startSshd(),
    startSshd({config: 'AllowTcpForwarding yes'}),
    startSshd({config: 'AllowTcpForwarding no'}),
  ])
})
afterAll(() => Promise.all([inner, jump, closedJump].map((server) => server?.stop())))
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-config-'))
  await mkdir(join(home, '.ssh'), {mode: 0o700})
})
afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.close()))
  await rm(home, {recursive: true, force: true})
})

async function open(config: string, targets: SshTarget[]): Promise<Fleet> {
  await writeFile(join(home, '.ssh', 'config'), config)
  const known = await Promise.all([inner, jump, closedJump].map((server) => readFile(server.knownHosts, 'utf8')))
  await writeFile(join(home, '.ssh', 'known_hosts'), known.join(''))
  const reporter = {...silentReporter, note: (line: string) => void told.push(line)}
  const fleet = openFleet(targets, makeContext({env: {HOME: home}, reporter}))
  fleets.push(fleet)
  return fleet
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function block(alias: string, server: TestSshd, more = ''): string {
  return `Host ${alias}\n  HostName 127.0.0.1\n  Port ${server.port}\n  User ${server.user}\n  IdentityFile ${server.clientKey}\n  IdentitiesOnly yes\n${more}\n`
}

describe('~/.ssh/config', () => {
  it('says host, port, user, key and known_hosts of an alias, also from a file it includes', async () => {
    await mkdir(join(home, '.ssh', 'conf.d'))
    await writeFile(
      join(home, '.ssh', 'conf.d', 'lab'),
      block('gpu-*', inner, `  UserKnownHostsFile ${inner.knownHosts}`),
    )
    const fleet = await open('Include conf.d/*\nHost gpu-*\n  Port 1\n', [{name: 'a', host: 'gpu-1'}])
    expect(await (await fleet.shell('a')).run('echo in')).toBe('in\n')
  })

  it('is overruled by what the rack file says', async () => {
    const fleet = await open(
      block('gpu', inner)
        .replace(/Port \d+/, 'Port 1')
        .replace(/User \w+/, 'User nobody'),
      [{name: 'a', host: 'gpu', port: inner.port, user: inner.user}],
    )
    expect(await (await fleet.shell('a')).run('echo in')).toBe('in\n')
  })

  it('looks a host up under its HostKeyAlias', async () => {
    const [, kind, blob] = (await readFile(inner.knownHosts, 'utf8')).split(/\s/)
    await writeFile(join(home, 'aliased'), `the-rack ${kind} ${blob}\n`)
    const fleet = await open(
      block('gpu', inner, `  HostKeyAlias the-rack\n  UserKnownHostsFile ${join(home, 'aliased')}`),
      [{name: 'a', host: 'gpu'}],
    )
    expect(await (await fleet.shell('a')).run('echo in')).toBe('in\n')
  })
})

describe('a jump host', () => {
  it('is gone through, by one connection for all nodes behind it', async () => {
    const config = block('bastion', jump) + block('deep-*', inner, '  ProxyJump bastion')
    const fleet = await open(
      config,
      [1, 2, 3].map((number) => ({name: `n${number}`, host: `deep-${number}`})),
    )
    const {done, failed} = await forEachNode(fleet, ['n1', 'n2', 'n3'], (shell) => shell.run('echo $SSH_CONNECTION'))
    expect(failed.size).toBe(0)
    for (const text of done.values()) expect(text.split(' ')[3]).toBe(`${inner.port}\n`)
    expect(jump.log().match(/Accepted publickey/g)?.length).toBe(1)
  })

  it('may be named in the rack file with user and port, and be the second of two', async () => {
    const target = inner.target('deep', {proxyJump: `bastion,${inner.user}@127.0.0.1:${inner.port}`})
    const fleet = await open(block('bastion', jump) + `Host 127.0.0.1\n  IdentityFile ${inner.clientKey}\n`, [
      {...target, knownHosts: join(home, '.ssh', 'known_hosts')},
    ])
    expect(await (await fleet.shell('deep')).run('echo in', {input: 'x'.repeat(1_000_000)})).toBe('in\n')
  })

  it('that forbids forwarding is named', async () => {
    const fleet = await open(block('bastion', closedJump) + block('deep', inner, '  ProxyJump bastion'), [
      {name: 'deep', host: 'deep'},
    ])
    await expect((async () => fleet.shell('deep'))()).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringMatching(/deep.*bastion.*does not allow forwarding/),
      hint: expect.stringContaining('AllowTcpForwarding'),
    })
  })

  it('that goes round in a circle is told', async () => {
    const fleet = await open('Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n', [{name: 'a', host: 'a'}])
    await expect(fleet.shell('a')).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('circle'),
    })
  })
})

describe('bad nodes among good ones', () => {
  it('are all reported, each with its own reason, and keep nobody from working', async () => {
    const unknownKey = await makeKey(join(home, 'unknownKey'))
    const targets = [
      inner.target('good-1'),
      inner.target('down', {port: await freePort()}),
      inner.target('locked-out', {identityFile: unknownKey}),
      inner.target('nameless', {host: 'no-such-host.invalid'}),
      inner.target('good-2'),
    ]
    const fleet = await open('', targets)
    const {done, failed} = await forEachNode(
      fleet,
      targets.map((target) => target.name),
      (shell, node) => shell.run(`echo ${node}`),
    )
    expect([...done]).toEqual([
      ['good-1', 'good-1\n'],
      ['good-2', 'good-2\n'],
    ])
    expect([...failed].map(([node, error]) => [node, (error as Error & {code: string}).code])).toEqual([
      ['down', 'NODE_UNREACHABLE'],
      ['locked-out', 'AUTH_FAILED'],
      ['nameless', 'NODE_UNREACHABLE'],
    ])
  })

  it('that accept a connection and say nothing are given up after the time allowed', async () => {
    const {createServer} = await import('node:net')
    const silent = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const {port} = silent.address() as {port: number}
    const fleet = openFleet([inner.target('silent', {port})], makeContext(), {connectTimeout: 200})
    fleets.push(fleet)
    await expect(fleet.shell('silent')).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('did not answer within 0.2 s'),
    })
    silent.close()
  })

  it('that say nothing do not hold up the others, however few may be connected to at once', async () => {
    const {createServer} = await import('node:net')
    const silent = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const {port} = silent.address() as {port: number}
    const fleet = openFleet(
      [...['silent-1', 'silent-2'].map((name) => inner.target(name, {port})), inner.target('good')],
      makeContext(),
      {parallelStarts: 1, connectTimeout: 60_000},
    )
    fleets.push(fleet)
    const answered: string[] = []
    const waiting = ['silent-1', 'silent-2'].map((name) => fleet.shell(name).catch(() => answered.push(name)))
    expect(await (await fleet.shell('good')).run('echo good')).toBe('good\n')
    expect(answered).toEqual([])
    await fleet.close()
    await Promise.all(waiting)
    silent.close()
  })

  it('stop being waited for at Ctrl-C', async () => {
    const {createServer} = await import('node:net')
    const stop = new AbortController()
    const silent = createServer((socket) => {
      socket.on('error', () => {})
      stop.abort()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const {port} = silent.address() as {port: number}
    const fleet = openFleet([inner.target('silent', {port})], makeContext({signal: stop.signal}))
    fleets.push(fleet)
    await expect(fleet.shell('silent')).rejects.toMatchObject({code: 'INTERRUPTED'})
    silent.close()
  })
})

describe('a ProxyCommand', () => {
  it('is the connection, of a jump host too; what it says is told, and it goes with us', async () => {
    const relay = join(home, 'relay.mjs')
    await writeFile(
      relay,
      `import {connect} from 'node:net'
import {writeFileSync} from 'node:fs'
const [host, port, mark] = process.argv.slice(2)
writeFileSync(mark, String(process.pid))
console.error('by way of the relay')
const socket = connect(Number(port), host)
process.stdin.pipe(socket).pipe(process.stdout)
`,
    )
    const command = (mark: string): string =>
      `  ProxyCommand "${process.execPath}" ${relay} %h %p "${join(home, `mark of ${mark}`)}"\n`
    const fleet = await open(
      `${block('direct', inner, command('direct'))}${block('far', inner, '  ProxyJump gate')}${block('gate', jump, command('gate'))}`,
      [
        {name: 'a', host: 'direct'},
        {name: 'b', host: 'far'},
      ],
    )
    for (const name of ['a', 'b']) expect(await (await fleet.shell(name)).run('echo in')).toBe('in\n')
    const pids = await Promise.all(
      ['direct', 'gate'].map(async (mark) => Number(await readFile(join(home, `mark of ${mark}`), 'utf8'))),
    )
    for (const pid of pids) expect(process.kill(pid, 0)).toBe(true)
    expect(told).toEqual(expect.arrayContaining(['a: by way of the relay']))
    await fleet.close()
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('that is not there is tried once', async () => {
    told.splice(0)
    const fleet = await open('Host n\n  ProxyCommand flexrack-is-not-there %h; echo again >&2\n', [
      {name: 'n', host: 'n'},
    ])
    await expect(fleet.shell('n')).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('its ProxyCommand ended with status 127'),
    })
    expect(told).toHaveLength(1)
  })

  it('that fails is told with its status and last words', async () => {
    const fleet = await open(`Host n\n  ProxyCommand sh -c 'echo "no way to %h" >&2; exit 3'\n`, [
      {name: 'n', host: 'n'},
    ])
    await expect(fleet.shell('n')).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('its ProxyCommand ended with status 3: no way to n'),
    })
  })
})

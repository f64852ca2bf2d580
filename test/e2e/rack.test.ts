import {execFileSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {NodeReport, NodeTopology, Probe} from '../../src/lib/nodes/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack} from '../support/program.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

let home: string
let env: NodeJS.ProcessEnv
let sshd: TestSshd

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-rack-e2e-'))
  // A home of its own: known_hosts is written there.
  env = {FLEXRACK_HOME: join(home, 'flexrack'), HOME: home, SSH_AUTH_SOCK: ''}
  sshd = await startSshd()
})
afterAll(async () => {
  await sshd?.stop()
  await rm(home, {recursive: true, force: true})
})

const rack = (...args: string[]) => flexrack(['rack', ...args], {env, cwd: home})
const json = (text: string): unknown => JSON.parse(text) as unknown

describe('adding a node that runs OpenSSH', () => {
  const words = () => [`one=${sshd.user}@127.0.0.1:${sshd.port}`, '--identity-file', sshd.clientKey]
  const file = () => join(home, 'flexrack/config/racks/lab.yaml')

  it('is refused in a pipe while its host key is unknown, and nothing is written', async () => {
    const {status, stdout, stderr} = await rack('add', 'lab', ...words())
    expect({status, stdout}).toEqual({status: 5, stdout: ''})
    expect(stderr).toContain('--trust')
    expect(existsSync(file())).toBe(false)
    expect(existsSync(join(home, '.ssh/known_hosts'))).toBe(false)
  })

  it('is planned with --dry-run', async () => {
    const {status, stdout} = await rack('add', 'lab', ...words(), '--trust', '--dry-run')
    expect(status).toBe(0)
    expect(stdout).toContain('Connect to 127.0.0.1 and trust a host key that is new')
    expect(existsSync(file())).toBe(false)
  })

  it('records the host key with --trust, once, and writes the rack', async () => {
    const {status, stdout} = await rack('add', 'lab', ...words(), '--trust', '--label', 'kind=real')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^one +root@127\.0\.0\.1:\d+ +~\/\.flexrack +kind=real$/m)
    // The name may be hashed, as Debian's ssh_config wants it: ssh-keygen finds it either way.
    expect(
      execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${sshd.port}`, '-f', join(home, '.ssh/known_hosts')], {
        encoding: 'utf8',
      }),
    ).toContain('ssh-ed25519 ')
    expect((await rack('show', '--json')).stdout).toContain('"name": "one"')
  })

  it('is a conflict the second time', async () => {
    const {status, stderr} = await rack('add', 'lab', ...words())
    expect(status).toBe(4)
    expect(stderr).toContain('the rack lab already has one')
  })

  it('can be installed, probed and uninstalled, and then nothing of flexrack is there', async () => {
    expect((await rack('install', '--rack', 'lab')).status).toBe(0)
    expect(existsSync(join(sshd.home, '.flexrack/installed.jsonl'))).toBe(true)
    const probed = await rack('probe', '--rack', 'lab')
    expect(probed.status).toBe(0)
    expect(probed.stdout).toMatch(/^host name: /m)
    const planned = await rack('uninstall', '--dry-run')
    expect(planned.stdout).toContain(join(sshd.home, '.flexrack/program/'))
    const refused = await rack('uninstall')
    expect(refused.status).toBe(2)
    expect(refused.stderr).toContain('--yes')
    const removed = await rack('uninstall', '--yes')
    expect({status: removed.status, stdout: removed.stdout}).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^one: \d+ paths? removed/),
    })
    expect(existsSync(join(sshd.home, '.flexrack'))).toBe(false)
    expect((await rack('uninstall', '--yes')).stdout).toBe('one: nothing of flexrack was there\n')
  })

  it('is listed, and removed again', async () => {
    expect(json((await rack('list', '--json')).stdout)).toEqual([{name: 'lab', path: file(), nodes: 1, head: 'one'}])
    expect((await rack('show', 'lab', 'on')).stderr).toContain('did you mean "one"?')
    expect((await rack('show', 'lbb')).stderr).toContain('did you mean "lab"?')
    expect((await rack('show', 'oen')).stderr).toContain(
      'neither a rack "oen" nor such a node of the rack lab; did you mean "one"?',
    )
    const planned = await rack('remove', 'lab', '--dry-run')
    expect(planned.status).toBe(0)
    expect(existsSync(file())).toBe(true)
    expect(await rack('remove', 'lab', '--yes')).toMatchObject({status: 0, stdout: 'The rack lab is removed.\n'})
    expect(existsSync(file())).toBe(false)
  })
})

describe('a local rack', () => {
  let local: TestLocalRack
  beforeAll(async () => {
    local = await startLocalRack({nodes: 2})
  })
  afterAll(() => local?.stop())
  const onLocal = (...args: string[]) => flexrack(['rack', ...args], {env: local.env, cwd: home})

  it('is probed node by node, all at once', async () => {
    const {status, stdout} = await onLocal('probe')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^NODE +STATE +CORES/)
    expect(stdout).toMatch(/^node-1 +ok .*\nnode-2 +ok /m)
  })

  it('shows a node by its name alone, of the rack that there is or the one that is named', async () => {
    const named = json((await onLocal('show', 'node-2', '--json')).stdout)
    expect(named).toMatchObject({name: 'node-2', host: '127.0.0.1'})
    expect(json((await onLocal('show', 'node-2', '--rack', 'local', '--json')).stdout)).toEqual(named)
    expect(json((await onLocal('show', 'local', 'node-2', '--json')).stdout)).toEqual(named)
    expect((await onLocal('show', 'node-2')).stdout).toMatch(/^node: +node-2$/m)
    const unknown = await onLocal('show', 'node-9')
    expect({status: unknown.status, stdout: unknown.stdout}).toEqual({status: 4, stdout: ''})
    expect(unknown.stderr).toContain('neither a rack "node-9" nor such a node of the rack local')
  })

  it('shows how a node is wired, of the rack that there is or the one that is named', async () => {
    const human = await onLocal('show', 'node-1', '--topology')
    expect({
      status: human.status,
      lines: human.stdout.split('\n').filter((line) => /^node-|^NUMA +/.test(line)).length,
    }).toEqual({status: 0, lines: 2})
    const [only] = json(
      (await onLocal('show', 'local', 'node-2', '--topology', '--json')).stdout,
    ) as NodeReport<NodeTopology>[]
    expect([only?.node, only?.value?.topology.numa.length, only?.value?.facts.cpu?.numa_nodes]).toEqual([
      'node-2',
      only?.value?.facts.numa?.length,
      only?.value?.facts.numa?.length,
    ])
    expect((json((await onLocal('show', 'local', '--topology', '--json')).stdout) as unknown[]).length).toBe(2)
    const unknown = await onLocal('show', 'node-9', '--topology')
    expect({status: unknown.status, stdout: unknown.stdout}).toEqual({status: 4, stdout: ''})
  })

  it('shows the good nodes and names the bad one, with exit status 8', async () => {
    const added = await flexrack(['rack', 'add', 'local', 'gone=127.0.0.1:1', '--no-probe'], {env: local.env})
    expect(added.status).toBe(0)
    const human = await onLocal('probe')
    expect(human.status).toBe(8)
    expect(human.stdout).toMatch(/^node-1 +ok /m)
    expect(human.stdout).toMatch(/^gone +NODE_UNREACHABLE/m)
    expect(human.stderr).toContain('1 of 3 nodes failed: gone')
    const machine = await onLocal('probe', '--json')
    expect(machine.status).toBe(8)
    const {error} = json(machine.stdout) as {error: {code: string; details: {nodes: NodeReport<Probe>[]}}}
    expect(error.code).toBe('SOME_NODES_FAILED')
    expect(error.details.nodes.map(({node, ok, value}) => [node, ok, value !== undefined])).toEqual([
      ['node-1', true, true],
      ['node-2', true, true],
      ['gone', false, false],
    ])
    expect((await onLocal('probe', '--on', 'node-1')).status).toBe(0)
    expect((await onLocal('probe', '--on', 'gone')).status).toBe(5)
  })

  it('is not removed by hand', async () => {
    const {status, stderr} = await onLocal('remove', 'local', '--yes')
    expect(status).toBe(4)
    expect(stderr).toContain('flexrack local down')
  })
})

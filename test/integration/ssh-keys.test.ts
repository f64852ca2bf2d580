import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {appendFile, mkdir, mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {makeContext, Secret} from '../../src/lib/base/index.ts'
import {openFleet, type Fleet, type FleetOptions, type SshTarget} from '../../src/lib/ssh/index.ts'
import {makeKey, startSshd, type TestSshd} from '../support/sshd.ts'

const run = promisify(execFile)
let sshd: TestSshd
let folder: string
const fleets: Fleet[] = []
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  sshd = await startSshd()
})
afterAll(() => sshd?.stop())

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-keys-'))
  await mkdir(join(folder, '.ssh'), {mode: 0o700})
  env = {HOME: folder, PATH: process.env.PATH}
})
afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.close()))
  await rm(folder, {recursive: true, force: true})
})

function open(targets: SshTarget[], options: FleetOptions = {}): Fleet {
  const fleet = openFleet(targets, makeContext({env}), options)
  fleets.push(fleet)
  return fleet
}

async function allow(key: string): Promise<string> {
  await appendFile(sshd.authorizedKeys, await readFile(`${key}.pub`))
  return key
}

describe('a key that the server does not know', () => {
  it('is refused with the name of every key that was offered', async () => {
    const unknownKey = await makeKey(join(folder, 'unknownKey'))
    const error = await open([sshd.target('node-1', {identityFile: unknownKey})])
      .shell('node-1')
      .catch((error: unknown) => error)
    expect(error).toMatchObject({
      code: 'AUTH_FAILED',
      details: {node: 'node-1', user: sshd.user, offered: [expect.stringContaining(unknownKey)]},
    })
    expect((error as {hint: string}).hint).toContain('ssh-copy-id')
  })

  it('that is not there at all is named', async () => {
    await expect(
      open([sshd.target('node-1', {identityFile: join(folder, 'nowhere')})]).shell('node-1'),
    ).rejects.toMatchObject({code: 'AUTH_FAILED', message: expect.stringContaining('nowhere: ENOENT')})
  })
})

describe('keys of every usual kind', () => {
  for (const [type, pem] of [
    ['rsa', false],
    ['rsa', true],
    ['ecdsa', false],
    ['ecdsa', true],
    ['ed25519', false],
  ] as const) {
    it(`${type}${pem ? ' in PEM' : ''} logs in`, async () => {
      const key = await allow(await makeKey(join(folder, 'key'), {type, pem}))
      expect(await (await open([sshd.target('node-1', {identityFile: key})]).shell('node-1')).run('echo in')).toBe(
        'in\n',
      )
    })
  }

  it("ssh's usual places are looked at when no key is named", async () => {
    await allow(await makeKey(join(folder, '.ssh', 'id_ed25519')))
    const {identityFile: _, ...target} = sshd.target('node-1')
    expect(await (await open([target]).shell('node-1')).run('echo in')).toBe('in\n')
  })
})

describe('a key with a passphrase', () => {
  for (const pem of [false, true]) {
    it(`asks once for all nodes, and again after a typing error${pem ? ' (PEM)' : ''}`, async () => {
      const key = await allow(await makeKey(join(folder, 'locked'), {type: 'rsa', passphrase: 'open sesame', pem}))
      const requested: string[] = []
      const fleet = open(
        [1, 2, 3].map((number) => sshd.target(`node-${number}`, {identityFile: key})),
        {
          askPassphrase: async (file) => {
            requested.push(file)
            return new Secret(requested.length === 1 ? 'wrong' : 'open sesame')
          },
        },
      )
      const shells = await Promise.all([1, 2, 3].map((number) => fleet.shell(`node-${number}`)))
      expect(await Promise.all(shells.map((shell) => shell.run('echo in')))).toEqual(['in\n', 'in\n', 'in\n'])
      expect(requested).toEqual([key, key])
    })
  }

  it('is an error that names the key and ssh-add where nobody can be asked', async () => {
    const key = await allow(await makeKey(join(folder, 'locked'), {passphrase: 'open sesame'}))
    await expect(open([sshd.target('node-1', {identityFile: key})]).shell('node-1')).rejects.toMatchObject({
      code: 'AUTH_FAILED',
      message: expect.stringContaining(key),
      hint: expect.stringContaining(`ssh-add ${key}`),
    })
  })

  it('asks nothing when the server would not take the key anyway', async () => {
    const key = await makeKey(join(folder, 'locked'), {passphrase: 'open sesame'})
    let requested = false
    const fleet = open([sshd.target('node-1', {identityFile: key})], {
      askPassphrase: async () => {
        requested = true
        return undefined
      },
    })
    await expect(fleet.shell('node-1')).rejects.toMatchObject({code: 'AUTH_FAILED'})
    expect(requested).toBe(false)
  })
})

describe('the agent', () => {
  let agent: ChildProcess
  beforeEach(async () => {
    const socket = join(folder, 'agent.sock')
    agent = spawn('ssh-agent', ['-D', '-a', socket], {stdio: ['ignore', 'pipe', 'ignore']})
    await once(agent.stdout as NodeJS.ReadableStream, 'data') // it says where it listens
    env.SSH_AUTH_SOCK = socket
  })
  afterEach(async () => {
    agent.kill()
    await once(agent, 'exit')
  })

  for (const type of ['ed25519', 'rsa', 'ecdsa']) {
    it(`signs with a ${type} key whose file is gone`, async () => {
      const key = await allow(await makeKey(join(folder, 'held'), {type}))
      await run('ssh-add', ['-q', key], {env})
      await rm(key)
      await rm(`${key}.pub`)
      const {identityFile: _, ...target} = sshd.target('node-1')
      expect(await (await open([target]).shell('node-1')).run('echo in')).toBe('in\n')
    })
  }

  it('is used for a locked key that it holds, so that nothing is asked', async () => {
    const key = await makeKey(join(folder, 'locked'))
    await run('ssh-add', ['-q', key], {env})
    await run('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'open sesame', '-f', key])
    await allow(key)
    expect(await (await open([sshd.target('node-1', {identityFile: key})]).shell('node-1')).run('echo in')).toBe('in\n')
  })

  it('with many keys does not use up the tries of the server before the named key', async () => {
    for (let number = 0; number < 8; number++)
      await run('ssh-add', ['-q', await makeKey(join(folder, `other-${number}`))], {env})
    expect(await (await open([sshd.target('node-1')]).shell('node-1')).run('echo in')).toBe('in\n')
  })

  it('that does not answer is passed over', async () => {
    env.SSH_AUTH_SOCK = join(folder, 'no-agent.sock')
    expect(await (await open([sshd.target('node-1')]).shell('node-1')).run('echo in')).toBe('in\n')
  })
})

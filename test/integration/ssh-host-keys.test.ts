import {execFile} from 'node:child_process'
import {mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {openFleet, type Fleet, type FleetOptions, type SshTarget, type TrustQuestion} from '../../src/lib/ssh/index.ts'
import {makeKey, startSshd, type TestSshd} from '../support/sshd.ts'

const run = promisify(execFile)
let sshd: TestSshd
let folder: string
const fleets: Fleet[] = []

beforeAll(async () => {
  sshd = await startSshd({hostKeyTypes: ['rsa', 'ecdsa', 'ed25519']})
})
afterAll(() => sshd?.stop())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-hosts-'))
})
afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.close()))
  await rm(folder, {recursive: true, force: true})
})

/** Tries a target with a known_hosts file of the given text. */
async function greet(
  text: string | undefined,
  options: FleetOptions = {},
  parts: Partial<SshTarget> = {},
): Promise<string> {
  const knownHosts = join(folder, 'known_hosts')
  if (text !== undefined) await writeFile(knownHosts, text)
  const fleet = openFleet([sshd.target('node-1', {knownHosts, ...parts})], makeContext({env: {HOME: folder}}), options)
  fleets.push(fleet)
  return (await fleet.shell('node-1')).run('echo in')
}

async function line(type: string, name = `[127.0.0.1]:${sshd.port}`): Promise<string> {
  const [kind, blob] = (await readFile(sshd.hostKeys[type] as string, 'utf8')).split(' ')
  return `${name} ${kind} ${blob}\n`
}

async function configure(text: string): Promise<void> {
  await mkdir(join(folder, '.ssh'))
  await writeFile(join(folder, '.ssh', 'config'), text)
}

async function printed(publicKey: string): Promise<string> {
  return (await run('ssh-keygen', ['-lf', publicKey])).stdout.split(' ')[1] as string
}

describe('a host key that is known', () => {
  for (const type of ['rsa', 'ecdsa', 'ed25519']) {
    it(`by its ${type} key alone is asked for just that one`, async () => {
      expect(await greet(await line(type))).toBe('in\n')
    })
  }

  it('is found under a hashed name, a pattern, a list, and the bare name', async () => {
    await greet(await line('ed25519'))
    await run('ssh-keygen', ['-H', '-f', join(folder, 'known_hosts')])
    expect(await readFile(join(folder, 'known_hosts'), 'utf8')).toMatch(/^\|1\|/)
    expect(await greet(undefined)).toBe('in\n')
    expect(await greet(await line('ed25519', `other,[127.0.0.*]:${sshd.port}`))).toBe('in\n')
    expect(await greet(await line('ed25519', '127.0.0.1'))).toBe('in\n')
    await expect(greet(await line('ed25519', `[127.*]:${sshd.port},![127.0.0.1]:${sshd.port}`))).rejects.toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
    })
  })
})

describe('a host key that is not known', () => {
  it('is refused in a pipe with its fingerprint and the way to trust it', async () => {
    const error = await greet('').catch((error: unknown) => error)
    expect(error).toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
      details: {node: 'node-1', keyType: 'ssh-ed25519', fingerprint: await printed(sshd.hostKeys.ed25519 as string)},
    })
    expect((error as Error).message).toContain(await printed(sshd.hostKeys.ed25519 as string))
    expect((error as {hint: string}).hint).toMatch(/^ssh-keyscan -p \d+ 127\.0\.0\.1 >> \S+$/)
    expect(await readFile(join(folder, 'known_hosts'), 'utf8')).toBe('')
  })

  it('is asked about once on a terminal, and recorded in a file of mode 600 that ssh itself understands', async () => {
    const questions: TrustQuestion[] = []
    const askTrust = async (question: TrustQuestion): Promise<boolean> => questions.push(question) > 0
    expect(await greet(undefined, {askTrust})).toBe('in\n')
    expect(await greet(undefined, {askTrust})).toBe('in\n')
    expect(questions).toEqual([
      {
        node: 'node-1',
        host: `[127.0.0.1]:${sshd.port}`,
        keyType: 'ssh-ed25519',
        fingerprint: await printed(sshd.hostKeys.ed25519 as string),
        file: join(folder, 'known_hosts'),
      },
    ])
    expect((await stat(join(folder, 'known_hosts'))).mode & 0o777).toBe(0o600)
    const ssh = await run('ssh', [
      '-o',
      'StrictHostKeyChecking=yes',
      '-o',
      `UserKnownHostsFile=${join(folder, 'known_hosts')}`,
      '-o',
      'BatchMode=yes',
      '-i',
      sshd.clientKey,
      '-p',
      String(sshd.port),
      `${sshd.user}@127.0.0.1`,
      'echo by ssh',
    ])
    expect(ssh.stdout).toBe('by ssh\n')
  })

  it('is refused when the answer is no', async () => {
    await expect(greet(undefined, {askTrust: async () => false})).rejects.toMatchObject({code: 'HOST_KEY_UNKNOWN'})
  })

  it('is recorded without a question where that was asked for, on a line of its own', async () => {
    await configure('HashKnownHosts no')
    expect(await greet('# my hosts, without a newline at the end', {trustNew: true})).toBe('in\n')
    expect(await readFile(join(folder, 'known_hosts'), 'utf8')).toBe(
      `# my hosts, without a newline at the end\n${await line('ed25519')}`,
    )
  })

  it('is recorded under a hashed name where ssh is told to do that', async () => {
    await configure('HashKnownHosts yes')
    expect(await greet(undefined, {trustNew: true})).toBe('in\n')
    expect(await readFile(join(folder, 'known_hosts'), 'utf8')).toMatch(/^\|1\|\S+ ssh-ed25519 /)
    expect(
      (await run('ssh-keygen', ['-F', `[127.0.0.1]:${sshd.port}`, '-f', join(folder, 'known_hosts')])).stdout,
    ).toContain('found: line 1')
    expect(await greet(undefined)).toBe('in\n')
  })

  it('is asked about once where two nodes are the same machine', async () => {
    let requested = 0
    const knownHosts = join(folder, 'known_hosts')
    const fleet = openFleet(
      [sshd.target('a', {knownHosts}), sshd.target('b', {knownHosts})],
      makeContext({env: {HOME: folder}}),
      {askTrust: async () => ++requested > 0},
    )
    fleets.push(fleet)
    await Promise.all([fleet.shell('a'), fleet.shell('b')])
    expect(requested).toBe(1)
  })

  it('is told apart where only a certificate authority is trusted for it', async () => {
    await expect(greet(`@cert-authority ${await line('ed25519')}`)).rejects.toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
      message: expect.stringContaining('known_hosts:1 trusts a certificate authority'),
    })
  })
})

describe('a host key that changed', () => {
  it('is always refused, with both fingerprints and where the old one stands', async () => {
    const other = await makeKey(join(folder, 'other'))
    const [kind, blob] = (await readFile(`${other}.pub`, 'utf8')).split(' ')
    const text = `# first line\n[127.0.0.1]:${sshd.port} ${kind} ${blob}\n`
    for (const options of [{}, {trustNew: true}, {askTrust: async () => true}]) {
      const error = await greet(text, options).catch((error: unknown) => error)
      expect(error).toMatchObject({
        code: 'HOST_KEY_CHANGED',
        details: {expected: [{line: 2, fingerprint: await printed(`${other}.pub`)}]},
      })
      for (const part of [
        await printed(`${other}.pub`),
        await printed(sshd.hostKeys.ed25519 as string),
        'known_hosts:2',
      ])
        expect((error as Error).message).toContain(part)
      expect(await readFile(join(folder, 'known_hosts'), 'utf8')).toBe(text)
    }
  })

  it('is refused too where a key of another type is known', async () => {
    const ed = await startSshd({hostKeyTypes: ['ed25519']})
    try {
      const text = await line('ecdsa', `[127.0.0.1]:${ed.port}`)
      await expect(greet(text, {trustNew: true}, {port: ed.port})).rejects.toMatchObject({code: 'HOST_KEY_CHANGED'})
    } finally {
      await ed.stop()
    }
  })

  it('is refused when it is revoked, whatever else is known', async () => {
    const known = await line('ed25519')
    await expect(greet(`${known}@revoked ${known}`, {trustNew: true})).rejects.toMatchObject({
      code: 'HOST_KEY_CHANGED',
      message: expect.stringContaining('known_hosts:2 revokes'),
    })
  })
})

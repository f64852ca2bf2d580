import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {resolveTarget, type Endpoint} from '../../../src/lib/ssh/config.ts'
import type {SshTarget} from '../../../src/lib/ssh/index.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-config-'))
  await mkdir(join(home, '.ssh'))
})
afterEach(() => rm(home, {recursive: true, force: true}))

async function resolve(
  config: string,
  target: Partial<SshTarget> & {host: string},
  env: NodeJS.ProcessEnv = {},
): Promise<Endpoint> {
  await writeFile(join(home, '.ssh', 'config'), config)
  return resolveTarget({name: 'node-1', ...target}, {HOME: home, ...env})
}

describe('resolveTarget', () => {
  it('falls back on what ssh would do without a configuration', async () => {
    expect(await resolve('', {host: 'node.lan'})).toMatchObject({
      label: 'node-1',
      host: 'node.lan',
      port: 22,
      user: userInfo().username,
      knownAs: 'node.lan',
      identitiesNamed: false,
      identitiesOnly: false,
      identityFiles: ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => join(home, '.ssh', name)),
      knownHostsFiles: [join(home, '.ssh', 'known_hosts'), join(home, '.ssh', 'known_hosts2')],
    })
  })

  it('takes the first value that applies, and adds identity files up', async () => {
    const config =
      'Host gpu\n  HostName %h.lab.lan\n  Port 2222\n  IdentityFile ~/a\nHost gpu* !gpu-9\n  Port 1\n  User me\n  IdentityFile "%d/key of %r"\n  IdentitiesOnly yes\nHost *\n  User nobody\n'
    expect(await resolve(config, {host: 'gpu'})).toMatchObject({
      host: 'gpu.lab.lan',
      port: 2222,
      user: 'me',
      identityFiles: [`${home}/a`, `${home}/key of me`],
      identitiesNamed: true,
      identitiesOnly: true,
      knownAs: '[gpu.lab.lan]:2222',
      bareName: 'gpu.lab.lan',
    })
    expect(await resolve(config, {host: 'gpu-9'})).toMatchObject({port: 22, user: 'nobody', identitiesNamed: false})
  })

  it('lets the rack file overrule, and keeps the configured keys after its own', async () => {
    expect(
      await resolve('Host *\n  Port 1\n  User x\n  IdentityFile ~/b\n  ProxyJump bastion\n', {
        host: 'n',
        port: 22,
        user: 'me',
        identityFile: '~/a',
        proxyJump: 'none',
        knownHosts: '~/k',
      }),
    ).toMatchObject({
      port: 22,
      user: 'me',
      identityFiles: [`${home}/a`, `${home}/b`],
      knownHostsFiles: [`${home}/k`],
      globalKnownHostsFiles: [],
    })
    expect((await resolve('Host *\n  ProxyJump bastion\n', {host: 'n', proxyJump: 'none'})).jump).toBeUndefined()
  })

  it('reads Include with wildcards where it stands, within Host too, and names a file that is no configuration', async () => {
    await mkdir(join(home, '.ssh', 'd'))
    await writeFile(join(home, '.ssh', 'd', '1.conf'), 'Host *\n  Port 11\n')
    await writeFile(join(home, '.ssh', 'd', '2.conf'), 'Port 22\nUser two\n')
    expect(await resolve('Include d/*.conf\nHost n\n  Port 33\n', {host: 'n'})).toMatchObject({port: 11, user: 'two'})
    expect(await resolve('Host other\n  Include d/*.conf\nHost n\n  Port 33\n', {host: 'n'})).toMatchObject({port: 33})
    await expect(resolve('IdentityFile "x\n', {host: 'n'})).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('.ssh/config'),
    })
    await expect(resolve('Include config\n', {host: 'n'})).rejects.toMatchObject({
      message: expect.stringContaining('includes itself'),
    })
  })

  it('holds Match lines to what can be known, and runs no command for them', async () => {
    const config = `Match host *.lan user me\n  Port 5\nMatch exec "touch ${'/tmp/flexrack-must-not-be'}"\n  Port 6\nMatch !originalhost m\n  Port 7\n`
    expect((await resolve(config, {host: 'n.lan', user: 'me'})).port).toBe(5)
    expect((await resolve(config, {host: 'n.lan', user: 'you'})).port).toBe(7)
    expect((await resolve(config, {host: 'm'})).port).toBe(22)
  })

  it('chains several jump hosts, each with its own settings, the first with its own jump', async () => {
    const config =
      'Host n\n  ProxyJump a,you@b:2022\nHost a\n  HostName a.lan\n  ProxyJump gate\nHost b\n  HostName b.lan\n  ProxyJump never\n'
    const endpoint = await resolve(config, {host: 'n'})
    const hops: string[] = []
    for (let hop = endpoint.jump; hop; hop = hop.jump)
      hops.push(`${hop.user === userInfo().username ? '' : `${hop.user}@`}${hop.host}:${hop.port}`)
    expect(hops).toEqual(['you@b.lan:2022', 'a.lan:22', 'gate:22'])
    expect(endpoint.jump?.label).toBe('b, the jump host of node-1')
  })

  it('understands [v6]:port, and refuses what is no jump host', async () => {
    expect((await resolve('', {host: 'n', proxyJump: 'me@[::1]:2022'})).jump).toMatchObject({
      host: '::1',
      port: 2022,
      user: 'me',
      knownAs: '[::1]:2022',
    })
    await expect(resolve('', {host: 'n', proxyJump: 'a b'})).rejects.toMatchObject({
      message: expect.stringContaining('"a b"'),
    })
  })

  it('takes a ProxyCommand as it is written, with its tokens and its own quotes', async () => {
    const config =
      'Host n\n  HostName n.lan\n  User me\n  ProxyCommand sh -c \'echo "a  b" >&2; nc -x "p q:1" %h %p\' %n %r 100%% %z\n'
    expect((await resolve(config, {host: 'n', port: 2022})).proxyCommand).toBe(
      'sh -c \'echo "a  b" >&2; nc -x "p q:1" n.lan 2022\' n me 100% %z',
    )
    expect((await resolve('Host n\n  ProxyCommand none\n', {host: 'n'})).proxyCommand).toBeUndefined()
  })

  it('takes ProxyJump or ProxyCommand, whichever is said first, and what the rack file says before both', async () => {
    const [jump, command] = ['  ProxyJump gate\n', '  ProxyCommand nc %h %p\n']
    expect(await resolve(`Host n\n${command}${jump}`, {host: 'n'})).toMatchObject({proxyCommand: 'nc n 22'})
    expect((await resolve(`Host n\n${command}${jump}`, {host: 'n'})).jump).toBeUndefined()
    const jumped = await resolve(`Host n\n${jump}${command}`, {host: 'n'})
    expect([jumped.jump?.host, jumped.proxyCommand]).toEqual(['gate', undefined])
    const named = await resolve(`Host n\n${command}`, {host: 'n', proxyJump: 'other'})
    expect([named.jump?.host, named.proxyCommand]).toEqual(['other', undefined])
    const direct = await resolve(`Host n\n${command}`, {host: 'n', proxyJump: 'none'})
    expect([direct.jump, direct.proxyCommand]).toEqual([undefined, undefined])
    const hop = await resolve(`Host n\n${jump}Host gate\n${command}`, {host: 'n'})
    expect(hop.jump?.proxyCommand).toBe('nc gate 22')
  })

  it('gives a ProxyCommand no name that a shell would read as more than one', async () => {
    for (const host of ['n;id', 'n$(id)', '`id`', 'a b', "a'b"])
      await expect(resolve('Host *\n  ProxyCommand nc %h %p\n', {host}), host).rejects.toMatchObject({
        code: 'NODE_UNREACHABLE',
        message: expect.stringContaining('a shell might read a command in it'),
      })
    await expect(resolve('Host *\n  ProxyCommand nc %r %p\n', {host: 'n', user: '-oX'})).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
    })
  })

  it('finds the agent as ssh does', async () => {
    expect((await resolve('', {host: 'n'}, {SSH_AUTH_SOCK: '/a'})).agent).toBe('/a')
    expect((await resolve('IdentityAgent none\n', {host: 'n'}, {SSH_AUTH_SOCK: '/a'})).agent).toBeUndefined()
    expect((await resolve('IdentityAgent ~/agent.sock\n', {host: 'n'})).agent).toBe(`${home}/agent.sock`)
    expect((await resolve('IdentityAgent $OTHER\n', {host: 'n'}, {OTHER: '/b'})).agent).toBe('/b')
  })
})

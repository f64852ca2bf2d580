import {chmod, mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import {ImageFiles} from '../../../src/lib/image/index.ts'
import {digestOf, startRegistry, type TestRegistry} from '../../support/registry.ts'

let registry: TestRegistry
let home: string
let context: Context

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-pull-'))
  registry = await startRegistry({user: 'me', password: 'p:w'})
  context = makeContext({
    env: {
      ...process.env,
      FLEXRACK_HOME: home,
      HOME: home,
      DOCKER_CONFIG: join(home, 'docker'),
      PATH: `${home}/bin:${process.env.PATH}`,
    },
  })
  await signIn({auths: {[registry.host]: {auth: Buffer.from('me:p:w').toString('base64')}}})
})
afterEach(async () => {
  await registry.stop()
  await rm(home, {recursive: true, force: true})
})

async function signIn(config: object): Promise<void> {
  await mkdir(join(home, 'docker'), {recursive: true})
  await writeFile(join(home, 'docker/config.json'), JSON.stringify(config))
}

const files = (text = `${registry.host}/team/tool:1`): ImageFiles => new ImageFiles(text, home, context)
const layer = Buffer.from('a layer')
const nothing = (): void => {}
const kept = async (): Promise<string[]> => (await readdir(join(home, 'cache/images/sha256')).catch(() => [])).sort()

test('a tag is resolved, its blobs come once, and the token goes to the registry alone', async () => {
  const digest = registry.image('team/tool', '1', [layer])
  const one = files()
  expect(await one.digest()).toBe(digest)
  const image = await one.image(digest, 'x86_64')
  expect(image).toMatchObject({
    ref: `${registry.host}/team/tool:1`,
    digest,
    manifest: digest,
    env: {A: 'b=c'},
    layers: [{digest: digestOf(layer), diffId: digestOf(layer), size: 7}],
  })
  await one.fetch(image.layers[0]!, nothing)
  const elsewhere = registry.seen.filter(({place}) => place === 'blobs')
  expect(elsewhere.length).toBe(2)
  expect(elsewhere.every(({authorization}) => authorization === undefined)).toBe(true)
  expect(
    registry.seen
      .filter(({place}) => place === 'token')
      .every(({authorization}) => authorization?.startsWith('Basic ')),
  ).toBe(true)
  const before = registry.seen.length
  const again = files(`${registry.host}/team/tool@${digest}`)
  await again.fetch((await again.image(digest, 'x86_64')).layers[0]!, nothing)
  expect(registry.seen.length).toBe(before)
})

test('credentials come from a helper, too; without any the way to sign in is named', async () => {
  const digest = registry.image('team/tool', '1', [layer])
  await mkdir(join(home, 'bin'))
  await writeFile(
    join(home, 'bin/docker-credential-test'),
    '#!/bin/sh\nread -r host; test "$1" = get && printf \'{"ServerURL":"%s","Username":"me","Secret":"p:w"}\' "$host"\n',
  )
  await chmod(join(home, 'bin/docker-credential-test'), 0o755)
  await signIn({credHelpers: {[registry.host]: 'test'}})
  expect(await files().digest()).toBe(digest)
  await writeFile(
    join(home, 'bin/docker-credential-test'),
    '#!/bin/sh\necho credentials not found in native keychain; exit 1\n',
  )
  await expect(files().digest()).rejects.toMatchObject({code: 'REFUSED', hint: `docker login ${registry.host}`})
  await signIn({auths: {[registry.host]: {auth: Buffer.from('me:wrong').toString('base64')}}})
  await expect(files().digest()).rejects.toMatchObject({code: 'REFUSED'})
})

test('what a registry sends beyond or beside its word is not taken, and nothing of it is kept', async () => {
  const digest = registry.image('team/tool', '1', [layer])
  const [wanted] = (await files().image(digest, 'x86_64')).layers
  const before = await kept()
  for (const [lie, said] of [
    [
      (answer: import('node:http').ServerResponse) => void answer.writeHead(200).end('another'),
      /is damaged: its content has the digest/,
    ],
    [(answer: import('node:http').ServerResponse) => void answer.writeHead(200).end('a l'), /ended after 3 of 7 bytes/],
    [
      (answer: import('node:http').ServerResponse) => {
        answer.writeHead(200)
        const more = (): void => void (answer.writable && answer.write(Buffer.alloc(65_536), more))
        more()
      },
      /has more than the 7 bytes/,
    ],
    [(answer: import('node:http').ServerResponse) => void answer.writeHead(500).end(), /status 500|no blob/],
  ] as const) {
    registry.lies.set(wanted!.digest, lie)
    await expect(files().fetch(wanted!, nothing)).rejects.toThrow(said)
    expect(await kept()).toEqual(before)
  }
})

test('manifests have a size, a digest and a shape', async () => {
  const digest = registry.image('team/tool', '1', [layer])
  registry.lies.set(digest, (answer) => {
    answer.writeHead(200)
    const more = (): void => void (answer.writable && answer.write(Buffer.alloc(65_536, 32), more))
    more()
  })
  await expect(files().digest()).rejects.toThrow(/has more than 4194304 bytes/)
  registry.lies.set(digest, (answer) => void answer.writeHead(200).end('{}'))
  await expect(files().image(digest, 'x86_64')).rejects.toThrow(/is damaged: its content has the digest/)
  registry.lies.clear()
  for (const [parts, said] of [
    [{sizes: [1e18]}, /says that sha256:.* has 1000000000000000000 bytes/],
    [{diffIds: []}, /does not belong to its 1 layers/],
    [{diffIds: ['sha256:../../x']}, /does not belong/],
  ] as const) {
    const bad = registry.image('team/tool', 'bad', [layer], parts as object)
    await expect(files().image(bad, 'x86_64')).rejects.toThrow(said)
  }
})

test('redirects lead to encrypted places, and have an end', async () => {
  const digest = registry.image('team/tool', '1', [layer])
  for (const [to, said] of [
    ['ftp://127.0.0.1/x', /ftp:.*not encrypted/],
    [`http://${registry.host}/v2/team/tool/blobs/${digest}`, /without an end/],
  ] as const) {
    registry.redirect = to
    await expect(files().image(digest, 'x86_64')).rejects.toThrow(said)
  }
})

test('an index has one for each kind of machine', async () => {
  const manifest = registry.image('team/tool', '1', [layer])
  const entry = {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: manifest,
    size: 1,
    platform: {os: 'linux', architecture: 'arm64'},
  }
  const index = registry.blob(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        manifests: [
          entry,
          {...entry, digest: `sha256:${'0'.repeat(64)}`, platform: {os: 'windows', architecture: 'amd64'}},
        ],
      }),
    ),
  )
  expect(await files().image(index, 'aarch64')).toMatchObject({digest: index, manifest})
  await expect(files().image(index, 'x86_64')).rejects.toMatchObject({
    code: 'NODE_UNFIT',
    message: expect.stringContaining('has nothing for x86_64: it is for arm64, windows/amd64'),
  })
})

test('references are taken as docker takes them, or refused', () => {
  const parsed = (text: string): object => ({...files(text).ref})
  expect(parsed('ubuntu')).toMatchObject({host: 'docker.io', name: 'library/ubuntu', tag: 'latest'})
  expect(parsed('nvcr.io/nvidia/pytorch:25.01-py3')).toMatchObject({
    host: 'nvcr.io',
    name: 'nvidia/pytorch',
    tag: '25.01-py3',
  })
  expect(parsed(`localhost:5000/a@sha256:${'a'.repeat(64)}`)).toMatchObject({
    host: 'localhost:5000',
    name: 'a',
    digest: `sha256:${'a'.repeat(64)}`,
  })
  for (const bad of [
    'upper/CASE',
    'a/b:',
    'a@sha256:12',
    'a/../b',
    'host.example/',
    'http://x/y',
    'oci:missing',
    './missing',
  ])
    expect(() => files(bad), bad).toThrow()
})

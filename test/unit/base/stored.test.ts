import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {current, makeContext, stamped, type StoredKind} from '../../../src/lib/base/index.ts'
import {SCHEMAS} from '../../../src/lib/base/file-schemas.ts'
import {readRecord} from '../../../src/lib/background/record.ts'
import {Endpoints} from '../../../src/lib/head/service/documents/endpoints.ts'
import {KeptScaling} from '../../../src/lib/head/service/scaling/kept.ts'
import {People} from '../../../src/lib/head/service/people/people.ts'
import {Rollouts} from '../../../src/lib/head/service/releases/rollouts.ts'
import {Locks} from '../../../src/lib/head/service/documents/locks.ts'
import {Tokens} from '../../../src/lib/head/service/tokens/tokens.ts'
import {readDurable} from '../../../src/lib/head/service/files/durable.ts'
import {Authority} from '../../../src/lib/head/service/tls/authority.ts'
import {readLogin} from '../../../src/lib/login/index.ts'
import {localLayout} from '../../../src/lib/local/layout.ts'
import {DataStore} from '../../../src/lib/data/index.ts'
import {readRack} from '../../../src/lib/local/rack-state.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-stored-'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

async function write(file: string, value: unknown): Promise<string> {
  await mkdir(dirname(file), {recursive: true})
  await writeFile(file, JSON.stringify(value))
  return file
}

const context = () => makeContext({env: {FLEXRACK_HOME: folder}})
const durable = (kind: StoredKind) => (file: string) => readDurable(kind, file, undefined)

/** Kind, its file, what an older version left there, how it is read, and what is read of it. */
const FILES: [
  kind: StoredKind,
  file: () => string,
  old: object,
  read: (file: string) => Promise<unknown>,
  read: unknown,
][] = [
  [
    'head.tokens',
    () => join(folder, 'tokens.json'),
    {ab12: {kind: 'endpoint', hash: 'x', expiresAt: 9e15}},
    async () => (await Tokens.open(folder)).count,
    1,
  ],
  [
    'head.locks',
    () => join(folder, 'locks.json'),
    {lastFence: 7, locks: {}},
    async () => (await (await Locks.open(folder)).put('a', {owner: 'me', ttl_seconds: 9})).fence,
    8,
  ],
  [
    'login.token',
    () => join(folder, 'state/logins/lab.json'),
    {
      rack: 'lab',
      user: 'a',
      id: 'i',
      token: 't',
      expiresAt: 9e15,
      address: 'h',
      port: 1,
      url: 'u',
      ca: 'c',
      method: 'ssh',
    },
    async () => (await readLogin('lab', {env: {FLEXRACK_HOME: folder}}))?.user,
    'a',
  ],
  [
    'head.people',
    () => join(folder, 'people.json'),
    {users: {a: {admin: true, keys: [], source: 'admin', createdAt: 1}}, teams: {}, projects: {}},
    async () => (await People.open(folder)).roleOf('a', 'p'),
    'admin',
  ],
  [
    'head.endpoint',
    () => join(folder, 'endpoints/digits.json'),
    {revision: 3, document: {}},
    async () => (await Endpoints.open(folder)).get('digits').revision,
    3,
  ],
  [
    'head.rollout',
    () => join(folder, 'rollouts/digits.json'),
    {release: 'r2', since: 's', state: 'returned', step: 0, percent: 0, stepSince: 1, looks: 3},
    async () => {
      const canary = {release: 'r2', since: 's', targets: [], steps: [10], judge: {minimum: 1, hold: 0}}
      return (await Rollouts.open(folder)).of('digits', canary).state
    },
    'returned',
  ],
  [
    'head.scaling',
    () => join(folder, 'scaling/digits.json'),
    {release: 'r2', on: ['endpoint-digits-r2-0'], wakes: 4, events: []},
    async () => (await KeptScaling.open(folder)).of('digits')?.wakes,
    4,
  ],
  [
    'head.listener',
    () => join(folder, 'listener.json'),
    {pid: 1, port: 2},
    durable('head.listener'),
    {pid: 1, port: 2},
  ],
  [
    'head.certificate',
    () => join(folder, 'tls/listener.json'),
    {identity: {}},
    durable('head.certificate'),
    {identity: {}},
  ],
  [
    'background.command',
    () => join(folder, 'state/background/a.json'),
    {name: 'a', pid: 1},
    () => readRecord('a', context()),
    {name: 'a', pid: 1},
  ],
  [
    'data.version',
    () => join(folder, `state/data/versions/d/${'0'.repeat(64)}.json`),
    {name: 'd', digest: '0'.repeat(64), at: 1, source: 'a:/d', bytes: 0, files: []},
    async () => (await new DataStore(context()).versions('d')).map(({name}) => name),
    ['d'],
  ],
  [
    'local.rack',
    () => localLayout({FLEXRACK_HOME: folder}).rack,
    {id: 'x', nodes: []},
    () => readRack(localLayout({FLEXRACK_HOME: folder})),
    {id: 'x', nodes: []},
  ],
]

describe.each(FILES)('%s', (kind, file, old, read, expected) => {
  test('of an older version is read as one of today', async () => {
    expect(await read(await write(file(), old))).toEqual(expected)
  })

  test('of a newer version is refused, with the file and the way out', async () => {
    const path = await write(file(), {...old, schema: SCHEMAS[kind] + 1})
    await expect(read(path)).rejects.toMatchObject({
      code: 'NEWER_VERSION',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('upgrade'),
    })
  })
})

test('the authority of an older head is kept', async () => {
  const made = await Authority.open(folder)
  const {schema, ...kept} = JSON.parse(await readFile(join(folder, 'tls/authority.json'), 'utf8')) as {schema: number}
  expect(schema).toBe(SCHEMAS['head.authority'])
  await write(join(folder, 'tls/authority.json'), kept)
  expect((await Authority.open(folder)).trusted).toEqual(made.trusted)
})

test('what an older supervisor said of its leader is known by the name of today', () => {
  expect(current('run.event', {at: 1, event: 'deposed', why: 'x'}, 'f')).toEqual({
    at: 1,
    event: 'stepped down',
    why: 'x',
  })
  expect(current('run.event', stamped('run.event', {at: 1, event: 'put out'}), 'f')).toEqual({at: 1, event: 'put out'})
})

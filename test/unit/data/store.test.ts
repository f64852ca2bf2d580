import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {DataStore} from '../../../src/lib/data/index.ts'

let home: string
let set: string
let store: DataStore

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flexrack-store-'))
  set = join(home, 'set')
  mkdirSync(join(set, 'deep'), {recursive: true})
  writeFileSync(join(set, 'a'), 'one')
  writeFileSync(join(set, 'deep/b'), 'one')
  writeFileSync(join(set, 'big'), Buffer.alloc((1 << 20) + 1, 'x'))
  store = new DataStore(makeContext({env: {FLEXRACK_HOME: join(home, 'home')}}))
})
afterEach(() => rmSync(home, {recursive: true}))

test('the same content is kept once, and is the same version wherever it was', async () => {
  const first = await store.add(set, 'a')
  expect(first).toMatchObject({files: 3, bytes: 6 + (1 << 20) + 1, newBytes: 3 + (1 << 20) + 1, same: false})
  expect(await store.add(set, 'b')).toMatchObject({digest: first.digest, newBytes: 0, same: false})
  expect(await store.add(set, 'a')).toMatchObject({digest: first.digest, newBytes: 0, same: true})
  expect(await store.names()).toEqual(['a', 'b'])
})

test('a change of content or mode is another version, and both stay until one is removed with what it alone has', async () => {
  const first = await store.add(set, 'a')
  writeFileSync(join(set, 'a'), 'two')
  const second = await store.add(set, 'a')
  chmodSync(join(set, 'a'), 0o755)
  const third = await store.add(set, 'a')
  expect(new Set([first.digest, second.digest, third.digest]).size).toBe(3)
  expect((await store.versions('a')).map(({digest}) => digest)).toEqual([third.digest, second.digest, first.digest])
  expect((await store.find('a')).digest).toBe(third.digest)
  expect((await store.find(`a@${first.digest.slice(0, 10)}`)).digest).toBe(first.digest)
  await expect(store.find('a@ffff0000ffff')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    hint: expect.stringContaining('data show a'),
  })
  await expect(store.find('z')).rejects.toMatchObject({code: 'NOT_FOUND', hint: expect.stringContaining('data add')})
  expect(await store.remove(await store.find(`a@${second.digest}`))).toEqual({bytes: 0})
  expect(await store.remove(await store.find(`a@${third.digest}`))).toEqual({bytes: 3})
  expect(await store.verify(await store.find('a'))).toEqual([])
})

test('remove waits for an add, which is not robbed of what it has kept, and takes away what a killed one has left', async () => {
  await store.add(set, 'a')
  const old = await store.find('a')
  const more = join(home, 'more')
  mkdirSync(more)
  for (let i = 0; i < 450; i++) writeFileSync(join(more, `${i}`), `${i}`)
  writeFileSync(join(home, 'home/state/data/blobs/.123.abcd'), 'half')
  const [added] = await Promise.all([store.add(more, 'b'), store.remove(old)])
  expect(await store.verify(await store.find('b'))).toEqual([])
  expect([
    added.files,
    existsSync(join(home, 'home/state/data/blobs/.123.abcd')),
    existsSync(join(home, 'home/state/data/lock')),
  ]).toEqual([450, false, false])
})

test('verify names what is damaged here', async () => {
  await store.add(set, 'a')
  const version = await store.find('a')
  const blob = store.blob(version.files.find(([path]) => path === 'big')?.[3] as string)
  chmodSync(blob, 0o600)
  appendFileSync(blob, 'x')
  expect(await store.verify(version)).toEqual(['big'])
})

test('links to files are what they lead to; others, empty folders and bad names are refused', async () => {
  symlinkSync('../a', join(set, 'deep/link'))
  expect(await store.add(set, 'a')).toMatchObject({files: 4})
  symlinkSync('deep', join(set, 'folder'))
  await expect(store.add(set, 'a')).rejects.toMatchObject({code: 'CHECK_FAILED', details: {path: 'folder'}})
  mkdirSync(join(home, 'empty'))
  await expect(store.add(join(home, 'empty'), 'a')).rejects.toMatchObject({code: 'CHECK_FAILED'})
  await expect(store.add(join(home, 'nowhere'), 'a')).rejects.toMatchObject({code: 'NOT_FOUND'})
  await expect(store.add(set, '../a')).rejects.toMatchObject({code: 'USAGE'})
})

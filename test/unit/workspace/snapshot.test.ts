import {chmodSync, globSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {basename, join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import type {Compared} from '../../../src/lib/protocol/index.ts'
import {rememberBase} from '../../../src/lib/workspace/bases.ts'
import {computeDelta, describeDelta} from '../../../src/lib/workspace/delta.ts'
import {takeSnapshot, type Snapshot} from '../../../src/lib/workspace/snapshot.ts'

let folder: string
let home: string
let context: Context

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-snapshot-'))
  home = mkdtempSync(join(tmpdir(), 'flexrack-home-'))
  context = makeContext({env: {FLEXRACK_HOME: home}})
})

afterEach(() => {
  for (const one of [folder, home]) rmSync(one, {recursive: true})
})

const take = (exclude: string[] = []): Promise<Snapshot> => takeSnapshot(folder, exclude, context)
const write = (path: string, text: string): void => writeFileSync(join(folder, path), text)

function there(snapshot: Snapshot, parts: Partial<Compared> = {}): Compared {
  const inventory = [...snapshot.entries].map(
    ([path, {kind, digest, executable}]): [string, typeof kind, string, boolean] => [path, kind, digest, executable],
  )
  return {same: false, revision: 'r', path: '/code', last: null, inventory, ...parts}
}

test('the same content has the same hash wherever and whenever it was written', async () => {
  write('a', '1')
  write('b', '2')
  const before = await take()
  utimesSync(join(folder, 'a'), 1, 1)
  expect((await take()).tree).toBe(before.tree)
  chmodSync(join(folder, 'a'), 0o755)
  expect((await take()).tree).not.toBe(before.tree)
})

test('notices a change that leaves size and modification time as they were', async () => {
  write('a', 'one')
  utimesSync(join(folder, 'a'), 1000, 1000)
  const before = await take()
  write('a', 'two')
  utimesSync(join(folder, 'a'), 1000, 1000)
  expect((await take()).tree).not.toBe(before.tree)
})

test('notices a file that was replaced by another one of the same size and time', async () => {
  write('a', 'one')
  const {atime, mtime} = statSync(join(folder, 'a'))
  await take()
  write('b', 'two')
  utimesSync(join(folder, 'b'), atime, mtime)
  renameSync(join(folder, 'b'), join(folder, 'a'))
  expect((await take()).entries.get('a')?.digest).toBe('3fc4ccfe745870e2c0d99f71f30ff065')
})

test('sends what is new or different, once for each content, and removes the rest', async () => {
  write('same', 's')
  write('gone', 'g')
  write('changed', '1')
  const before = await take()
  rmSync(join(folder, 'gone'))
  write('changed', '22')
  write('copy', '22')
  const now = await take()
  const delta = computeDelta(now, there(before))
  expect([...delta.put.keys()].sort()).toEqual(['changed', 'copy'])
  expect(delta.remove).toEqual(['gone'])
  expect(delta.bytes).toBe(2)
  expect(describeDelta(delta, there(before))).toBe('2 files changed, 1 file to remove')
})

test('what was edited on the node alone stays there; what changed here, too, is a conflict, unless the node counts for nothing', async () => {
  for (const name of ['kept', 'both', 'same', 'gone', 'other']) write(name, '1')
  const before = await take()
  write('both', '2')
  write('same', 'edited')
  rmSync(join(folder, 'gone'))
  const now = await take()
  const names = ['kept', 'both', 'same', 'gone']
  const last = (path: string): string => before.entries.get(path)?.digest as string
  const compared = there(before, {edited: names.map((path) => [path, 'f', last(path), false])})
  compared.inventory = compared.inventory?.map((one) =>
    names.includes(one[0])
      ? [one[0], 'f', one[0] === 'same' ? (now.entries.get('same')?.digest as string) : 'e'.repeat(32), false]
      : one,
  )
  const delta = computeDelta(now, compared)
  expect(delta).toMatchObject({kept: ['kept'], conflicts: ['both', 'gone'], remove: []})
  expect([...delta.put.keys()]).toEqual(['same']) // so that the node knows that it is the project's
  const replaced = computeDelta(now, compared, {overwrite: true})
  expect(replaced).toMatchObject({kept: [], conflicts: [], remove: ['gone']})
  expect([...replaced.put.keys()].sort()).toEqual(['both', 'kept'])
})

test('does not send again what came before the last sync was cut short', async () => {
  write('a', 'A')
  const now = await take()
  const delta = computeDelta(now, {
    same: false,
    revision: '',
    path: '/code',
    last: null,
    inventory: [],
    staged: [now.entries.get('a')?.digest as string],
  })
  expect([...delta.put.keys()]).toEqual(['a'])
  expect(delta.send.size).toBe(0)
})

test('gives up what the patterns leave out since, but only if it is still on the node', async () => {
  write('data.bin', 'd')
  write('other.bin', 'o')
  const before = await take()
  const now = await take(['*.bin'])
  const compared = there(before)
  compared.inventory = compared.inventory?.map((one) => (one[0] === 'other.bin' ? ['other.bin', '', '', false] : one))
  expect(computeDelta(now, compared)).toMatchObject({forget: ['data.bin'], remove: ['other.bin']})
})

test('finds the same difference whether a node tells everything or only what differs from the last sync', async () => {
  for (const name of ['same', 'changed', 'gone', 'broken', 'lost']) write(name, name)
  const before = await take()
  expect([...before.bases.keys()]).toEqual([before.tree])
  await rememberBase(before.folder, before.tree, before.entries, context)
  expect([...(await take()).bases.keys()]).toEqual([before.tree])
  write('changed', 'now')
  write('new', 'new')
  rmSync(join(folder, 'gone'))
  const now = await take()
  expect([...now.bases.keys()]).toEqual([now.tree, before.tree])
  expect(now.bases.get(before.tree)).toEqual(before.entries)

  const changes: NonNullable<Compared['inventory']> = [
    ['broken', 'f', 'f'.repeat(32), false],
    ['lost', '', '', false],
  ]
  const whole = there(before)
  whole.inventory = whole.inventory?.map((one) => changes.find(([path]) => path === one[0]) ?? one)
  const short = there(before, {base: before.tree, inventory: changes})
  expect(computeDelta(now, short)).toEqual(computeDelta(now, whole))
  expect([...computeDelta(now, short).put.keys()].sort()).toEqual(['broken', 'changed', 'lost', 'new'])
})

test('remembers one sync of a project, and does without where that cannot be read', async () => {
  write('a', '1')
  const first = await take()
  await rememberBase(first.folder, first.tree, first.entries, context)
  write('a', '2')
  const second = await take()
  await rememberBase(second.folder, second.tree, second.entries, context)
  const kept = globSync(join(home, 'cache/bases/*/*'))
  expect(kept.map((file) => basename(file))).toEqual([`${second.tree}.json`])
  writeFileSync(kept[0] as string, '{"version": 1, "rows": [["a"')
  write('a', '3')
  expect((await take()).bases.size).toBe(1)
})

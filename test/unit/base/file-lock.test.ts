import {mkdtemp, readdir, readFile, rm, utimes, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {withFileLock} from '../../../src/lib/base/index.ts'
import {ownMark} from '../../../src/lib/base/process-identity.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-lock-'))
})
afterAll(() => rm(folder, {recursive: true}))

const options = {what: 'the rack', waitMs: 30_000}
const beside = async (name: string): Promise<string[]> => (await readdir(folder)).filter((one) => one.startsWith(name))

test('work under the lock never overlaps, and the lock is gone afterwards', async () => {
  let inside = 0
  const results = await Promise.all(
    Array.from({length: 8}, (_, index) =>
      withFileLock(join(folder, 'many'), options, async () => {
        inside += 1
        expect(inside).toBe(1)
        await new Promise((resolve) => setImmediate(resolve))
        inside -= 1
        return index
      }),
    ),
  )
  expect(results).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(await beside('many')).toEqual([])
})

test.each([
  ['of a process that is gone', async () => ({...(await ownMark()), pid: 2 ** 30})],
  ['whose pid is another process’s by now', async () => ({...(await ownMark()), identity: 'earlier'})],
])('a lock %s is taken over', async (name, mark) => {
  const file = join(folder, name)
  await writeFile(file, JSON.stringify(await mark()))
  expect(await withFileLock(file, {...options, waitMs: 0}, async () => 'mine')).toBe('mine')
  expect(await beside(name)).toEqual([])
})

test('one of another machine counts for as long as it says that it lives', async () => {
  const file = join(folder, 'elsewhere')
  const since = '2026-01-01T00:00:00Z'
  await writeFile(file, JSON.stringify({...(await ownMark()), pid: 7, place: 'another', since}))
  const held = withFileLock(file, {...options, waitMs: 0}, async () => 'never')
  await expect(held).rejects.toMatchObject({
    code: 'LOCKED',
    message: `another flexrack command (pid 7, since ${since}) is changing the rack`,
    details: {holder: 7, since},
  })
  await utimes(file, 0, 0)
  expect(await withFileLock(file, {...options, waitMs: 0}, async () => 'mine')).toBe('mine')
})

test('one that an earlier version has left is taken over once it is old, and named until then', async () => {
  const file = join(folder, 'earlier')
  await writeFile(file, JSON.stringify({pid: 7, since: 'noon', nonce: 'x'}))
  const held = withFileLock(file, {...options, waitMs: 0}, async () => 'never')
  await expect(held).rejects.toMatchObject({message: expect.stringContaining('pid 7, since noon')})
  await utimes(file, 0, 0)
  expect(await withFileLock(file, {...options, waitMs: 0}, async () => 'mine')).toBe('mine')
})

test('who has lost the lock to another leaves it', async () => {
  const file = join(folder, 'lost')
  await withFileLock(file, options, () => writeFile(file, 'another’s'))
  expect(await readFile(file, 'utf8')).toBe('another’s')
})

test('Ctrl-C ends the wait for a lock that is held', async () => {
  const file = join(folder, 'held')
  const control = new AbortController()
  await withFileLock(file, options, async () => {
    const second = withFileLock(file, {...options, signal: control.signal}, async () => 'never')
    control.abort()
    await expect(second).rejects.toMatchObject({code: 'INTERRUPTED'})
  })
})

test('the lock is given back when the work fails', async () => {
  const file = join(folder, 'failing')
  await expect(withFileLock(file, options, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withFileLock(file, options, async () => 1)).toBe(1)
})

import {mkdtemp, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {withLock} from '../../../src/lib/local/lock.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-lock-'))
})
afterAll(() => rm(folder, {recursive: true}))

test('work under the lock never overlaps, and the lock is gone afterwards', async () => {
  const file = join(folder, 'many')
  let inside = 0
  const results = await Promise.all(
    Array.from({length: 8}, (_, index) =>
      withLock(file, makeContext(), async () => {
        inside += 1
        expect(inside).toBe(1)
        await new Promise((resolve) => setImmediate(resolve))
        inside -= 1
        return index
      }),
    ),
  )
  expect(results).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect((await readdir(folder)).filter((name) => name.startsWith('many'))).toEqual([])
})

test('the lock of a process that is gone is taken over', async () => {
  const file = join(folder, 'stale')
  // No Linux has pids of this size.
  await writeFile(file, JSON.stringify({pid: 2 ** 30, since: '2026-01-01T00:00:00Z', nonce: 'x'}))
  expect(await withLock(file, makeContext(), async () => 'mine')).toBe('mine')
})

test('what a killed command has left beside the lock is removed', async () => {
  const file = join(folder, 'left')
  await writeFile(`${file}.abc`, JSON.stringify({pid: 2 ** 30, since: '2026-01-01T00:00:00Z', nonce: 'abc'}))
  await withLock(file, makeContext(), async () => {})
  expect((await readdir(folder)).filter((name) => name.startsWith('left'))).toEqual([])
})

test('Ctrl-C ends the wait for a lock that is held', async () => {
  const file = join(folder, 'held')
  const control = new AbortController()
  await withLock(file, makeContext(), async () => {
    const second = withLock(file, makeContext({signal: control.signal}), async () => 'never')
    control.abort()
    await expect(second).rejects.toMatchObject({code: 'INTERRUPTED'})
  })
})

test('the lock is given back when the work fails', async () => {
  const file = join(folder, 'failing')
  await expect(withLock(file, makeContext(), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withLock(file, makeContext(), async () => 1)).toBe(1)
})

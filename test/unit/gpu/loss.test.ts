import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {lossFile, lossOf, readLoss} from '../../../src/lib/gpu/loss.ts'

test('a lease that somebody gave back counts before all that was lost with it', () => {
  expect(lossOf('')).toBeNull()
  expect(lossOf('lost: the server is gone\nlost: and another\n')).toEqual({
    why: 'the server is gone',
    released: false,
  })
  expect(lossOf('lost: the server is gone\nended: released by bob\n')).toEqual({why: 'released by bob', released: true})
})

test('nothing was lost where nobody wrote it down', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-loss-'))
  try {
    const lease = join(folder, 'lease')
    expect(await readLoss(lease)).toBeNull()
    await writeFile(lossFile(lease), 'lost: the server is gone\n')
    expect(await readLoss(lease)).toEqual({why: 'the server is gone', released: false})
  } finally {
    await rm(folder, {recursive: true})
  }
})

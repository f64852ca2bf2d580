import {chmod, chown, mkdir, mkdtemp, rm, stat, symlink} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {ownFolder} from '../../../../../src/lib/head/service/files/folder.ts'

let place: string
let folder: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'flexrack-own-'))
  folder = join(place, 'a', 'head')
})
afterEach(() => rm(place, {recursive: true, force: true}))

test("the head's folder is made for its owner alone, and closed where others could read it", async () => {
  for (const mode of [undefined, 0o700, 0o755, 0o711]) {
    if (mode !== undefined) await chmod(folder, mode)
    await ownFolder(folder)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  }
})

test("one that others could write to, that is a link or somebody else's is not used", async (context) => {
  await mkdir(folder, {recursive: true})
  for (const mode of [0o770, 0o707, 0o777, 0o1777]) {
    await chmod(folder, mode)
    await expect(ownFolder(folder)).rejects.toThrow('can be written to by other users')
  }
  await symlink(folder, join(place, 'link'))
  await expect(ownFolder(join(place, 'link'))).rejects.toThrow('not a folder but a link')
  if (process.getuid?.() !== 0) return context.skip()
  await chmod(folder, 0o700)
  await chown(folder, 12_345, 12_345)
  await expect(ownFolder(folder)).rejects.toThrow('belongs to user 12345, not to 0')
})

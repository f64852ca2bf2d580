import {mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {checkOut} from '../../../src/lib/lineage/checkout.ts'
import {readPack} from '../../../src/lib/lineage/pack.ts'
import {tarOf} from '../../support/lineage.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-checkout-'))))
afterEach(() => rm(folder, {recursive: true, force: true}))

test('files, modes and links are there as they were', async () => {
  const entries = await readPack(
    tarOf([
      {path: 'run.sh', content: 'x', mode: 0o755},
      {path: 'pkg/a.py', content: 'a'},
      {path: 'latest', link: 'pkg/a.py'},
    ]),
  )
  expect(await checkOut(entries, join(folder, 'new'))).toEqual([])
  expect(await readFile(join(folder, 'new/latest'), 'utf8')).toBe('a')
  expect((await stat(join(folder, 'new/run.sh'))).mode & 0o111).not.toBe(0)
})

test.each(['../x', 'a/../../x', '/etc/x', 'a//b', './x', 'a/.', ''])('the path %j is refused', async (path) => {
  await expect(readPack(tarOf([{path, content: 'x'}]))).rejects.toMatchObject({code: 'CHECK_FAILED'})
  await expect(
    checkOut(new Map([[path, {kind: 'file', content: Buffer.from('x')}]]), join(folder, 'new')),
  ).rejects.toMatchObject({code: 'CHECK_FAILED'})
  expect(await readdir(folder)).toEqual([])
})

test('a link out of the folder is left out, and nothing is written through one', async () => {
  const entries = await readPack(
    tarOf([
      {path: 'out', link: '../..'},
      {path: 'abs', link: '/etc'},
      {path: 'in', link: 'a'},
    ]),
  )
  expect(await checkOut(entries, join(folder, 'new'))).toEqual(['abs', 'out'])
  expect(await readlink(join(folder, 'new/in'))).toBe('a')
  const through = await readPack(
    tarOf([
      {path: 'd', link: 'other'},
      {path: 'd/x', content: 'x'},
    ]),
  )
  await expect(checkOut(through, join(folder, 'two'))).rejects.toMatchObject({code: 'CONFLICT'})
})

test('links that lead through each other out of the folder make no link there', async () => {
  const entries = await readPack(
    tarOf([
      {path: 'a/b', link: '..'},
      {path: 'c', link: 'a/b/..'},
      {path: 'c/planted', link: 'new/evil'},
    ]),
  )
  await expect(checkOut(entries, join(folder, 'new'))).rejects.toMatchObject({code: 'CONFLICT'})
  expect(await readdir(folder)).toEqual(['new'])
})

test('nor is a link left that leads out through another one', async () => {
  const entries = await readPack(
    tarOf([
      {path: 'a/b', link: '..'},
      {path: 'nowhere', link: 'gone'},
      {path: 'requirements.txt', link: 'a/b/../secret'},
    ]),
  )
  await writeFile(join(folder, 'secret'), 'key')
  expect(await checkOut(entries, join(folder, 'new'))).toEqual(['requirements.txt'])
  expect((await readdir(join(folder, 'new'))).toSorted()).toEqual(['a', 'nowhere'])
})

test('a folder that is there is not touched', async () => {
  await mkdir(join(folder, 'there'))
  await expect(checkOut(new Map(), join(folder, 'there'))).rejects.toMatchObject({code: 'CONFLICT'})
})

test('what is no pack of ours is refused: devices, twice the same, cut off, a bomb', async () => {
  await expect(readPack(tarOf([{path: 'x', type: '3'}]))).rejects.toThrow(/neither a file nor a link/)
  await expect(readPack(tarOf([{path: 'x', type: '1', link: 'y'}]))).rejects.toThrow(/neither a file nor a link/)
  await expect(readPack(tarOf([{path: 'x'}, {path: 'x'}]))).rejects.toThrow(/twice/)
  await expect(readPack(gzipSync(Buffer.alloc(600, 0x37)))).rejects.toThrow(/cut off/)
  await expect(readPack(gzipSync(Buffer.alloc(1 << 20)), 1 << 16)).rejects.toThrow(/damaged/)
})

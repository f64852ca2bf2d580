import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {renameFormerFiles} from '../../../../../src/lib/head/service/files/former-names.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-names-'))
  await mkdir(join(folder, 'tls'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

it('keeps what an older head has written, under the names of today', async () => {
  await writeFile(join(folder, 'door.json'), 'ports')
  await writeFile(join(folder, 'tls/door.json'), 'key')
  await renameFormerFiles(folder)
  await renameFormerFiles(folder)
  expect([await readdir(folder), await readdir(join(folder, 'tls'))]).toEqual([
    ['listener.json', 'tls'],
    ['listener.json'],
  ])
  expect([
    await readFile(join(folder, 'listener.json'), 'utf8'),
    await readFile(join(folder, 'tls/listener.json'), 'utf8'),
  ]).toEqual(['ports', 'key'])
})

it('leaves what is there under the name of today', async () => {
  await writeFile(join(folder, 'door.json'), 'old')
  await writeFile(join(folder, 'listener.json'), 'new')
  await renameFormerFiles(folder)
  expect(await readFile(join(folder, 'listener.json'), 'utf8')).toBe('new')
})

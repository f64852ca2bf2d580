import {chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {requireOwnFolder} from '../../../src/lib/monitor/index.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-emit-'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

test('a folder that is new, empty or of an earlier call is taken', async () => {
  await requireOwnFolder(join(folder, 'new'))
  await requireOwnFolder(folder)
  await writeFile(join(folder, 'prometheus.yml'), 'of an earlier call')
  await mkdir(join(folder, 'rules'))
  await writeFile(join(folder, 'rules/flexrack.yml'), '')
  await requireOwnFolder(folder)
})

test("others' folders and files stay as they are", async () => {
  await chmod(folder, 0o755)
  await writeFile(join(folder, 'prometheus.yml'), 'of somebody')
  await expect(requireOwnFolder(folder)).rejects.toMatchObject({code: 'CONFLICT'})
  await expect(requireOwnFolder(join(folder, 'prometheus.yml'))).rejects.toMatchObject({code: 'CONFLICT'})
  expect((await stat(folder)).mode & 0o777).toBe(0o755)
  expect(await readFile(join(folder, 'prometheus.yml'), 'utf8')).toBe('of somebody')
})

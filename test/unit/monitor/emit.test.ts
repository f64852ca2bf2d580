import {chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {discovered, readTargets} from '../../../src/lib/head/service/monitor.ts'
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

test('targets that a head is told are of one shape, and those whose time is over are not discovered', () => {
  const stays = {targets: ['gpu1:9100'], labels: {node: 'gpu1'}}
  const goes = {targets: ['spot1:9100'], labels: {node: 'spot1'}, until: 1000}
  const told = readTargets([{...stays, more: 1}, goes])
  expect(discovered(told, 999)).toEqual([stays, {targets: goes.targets, labels: goes.labels}])
  expect(discovered(told, 1000)).toEqual([stays])
  for (const odd of [
    {},
    [null],
    [{targets: ['a']}],
    [{targets: [1], labels: {}}],
    [{targets: ['a'], labels: {'a-b': 'c'}}],
    [{targets: ['a'], labels: {a: 1}}],
    [{...stays, until: 'soon'}],
    Array.from({length: 5001}, () => stays),
  ])
    expect(() => readTargets(odd), JSON.stringify(odd).slice(0, 60)).toThrow(/groups of targets/)
})

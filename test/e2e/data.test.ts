import {execFile} from 'node:child_process'
import {chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openHost} from '../../src/lib/host/index.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'

let rack: TestLocalRack
let folder: string

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-data-'))
  await mkdir(join(folder, 'set/deep'), {recursive: true})
  await mkdir(join(folder, 'project'))
  await writeFile(join(folder, 'set/deep/labels.txt'), '7 1 3\n')
  await writeFile(join(folder, 'set/tool.sh'), '#!/bin/sh\n')
  await chmod(join(folder, 'set/tool.sh'), 0o755)
  await writeFile(join(folder, 'set/big.bin'), Buffer.alloc(3 << 20, 'x'))
})

afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> =>
  program(args, {cwd: join(folder, 'project'), env: {FLEXRACK_HOME: rack.home}})
const json = async <T>(...args: string[]): Promise<T> => {
  const ended = await flexrack(...args, '--json')
  if (ended.status !== 0) throw new Error(`${args.join(' ')}: ${ended.stdout}${ended.stderr}`)
  return JSON.parse(ended.stdout) as T
}
const treeOn = async (index: number, digest: string): Promise<string> =>
  join(
    (await openHost(rack.fleet(), rack.rack.nodes[index] as RackNode, rack.context())).root,
    'data/versions',
    digest,
    'tree',
  )

interface Added {
  digest: string
  files: number
  newBytes: number
  same: boolean
}

test('a folder becomes a version, nodes get what they lack, a run reads it and names it, damage is found, and what a run has stays', async () => {
  const first = await json<Added>('data', 'add', join(folder, 'set'), 'digits')
  expect(first).toMatchObject({files: 3, same: false})
  expect(await json<Added>('data', 'add', join(folder, 'set'), 'digits')).toMatchObject({
    digest: first.digest,
    newBytes: 0,
    same: true,
  })
  const pushed = await json<{node: string; sent: number; from: string | null}[]>('data', 'push', 'digits')
  // It leaves this machine once.
  expect(pushed.map(({from}) => from).sort()).toEqual([expect.stringMatching(/^node-[12]$/), null])
  expect(pushed.map(({node, sent}) => [node, sent])).toEqual([
    ['node-1', first.newBytes],
    ['node-2', first.newBytes],
  ])
  const tree = await treeOn(0, first.digest)
  expect(await readFile(join(tree, 'deep/labels.txt'), 'utf8')).toBe('7 1 3\n')
  expect([
    (await stat(join(tree, 'tool.sh'))).mode & 0o777,
    (await stat(join(tree, 'deep/labels.txt'))).mode & 0o777,
  ]).toEqual([0o555, 0o444])

  // One file changes: that one travels, and both versions share the rest.
  await writeFile(join(folder, 'set/deep/labels.txt'), '7 1 3 4\n')
  const second = await json<Added>('data', 'add', join(folder, 'set'), 'digits')
  expect(second).toMatchObject({newBytes: 8, same: false})
  expect((await json<{sent: number}[]>('data', 'push', 'digits', '--on', 'node-1'))[0]?.sent).toBe(8)
  expect((await stat(join(await treeOn(0, second.digest), 'big.bin'))).ino).toBe(
    (await stat(join(tree, 'big.bin'))).ino,
  )
  const listed = await json<{digest: string; nodes: string[]}[]>('data', 'show', 'digits', '--on', 'all')
  expect(listed.map(({digest, nodes}) => [digest, nodes])).toEqual([
    [second.digest, ['node-1']],
    [first.digest, ['node-1', 'node-2']],
  ])

  // A run gets it brought, reads it on both nodes, and says which it was.
  await writeFile(
    join(folder, 'project/flexrack.yaml'),
    `name: digits\ndata: [digits]\ntrain: {command: train.py, launcher: plain, nodes: 2}\n`,
  )
  await writeFile(
    join(folder, 'project/train.py'),
    'import os\nprint(open(os.environ["FLEXRACK_DATA"] + "/digits/deep/labels.txt").read().split())\n',
  )
  const trained = await flexrack('train', '--no-tracking', '--skip', 'all')
  expect(trained.stdout.match(/\['7', '1', '3', '4'\]/g), trained.stdout + trained.stderr).toHaveLength(2)
  const run = /digits-[a-z0-9]{5}/.exec(trained.stdout + trained.stderr)?.[0] as string
  expect(await json('runs', 'show', run)).toMatchObject({data: [{name: 'digits', digest: second.digest}]})

  // A flipped byte is named; dropped, it comes anew.
  const damaged = join(await treeOn(1, second.digest), 'deep/labels.txt')
  await chmod(damaged, 0o644)
  await writeFile(damaged, '7 1 3 5\n')
  const verified = await flexrack('data', 'verify', 'digits', '--on', 'all', '--fix', '--json')
  expect(verified.status).toBe(8)
  expect(JSON.parse(verified.stdout)).toMatchObject([
    {node: 'node-1', bad: []},
    {node: 'node-2', bad: ['deep/labels.txt']},
  ])
  expect((await json<{sent: number}[]>('data', 'push', 'digits', '--on', 'node-2'))[0]?.sent).toBe(8)
  expect((await flexrack('data', 'verify', 'digits', '--on', 'all')).status).toBe(0)

  expect(await json('data', 'remove', `digits@${first.digest.slice(0, 8)}`, '--on', 'node-2', '--yes')).toMatchObject([
    {node: 'node-2', removed: true},
  ])
  expect(await json('data', 'remove', `digits@${first.digest.slice(0, 8)}`, '--yes')).toMatchObject([
    {node: null, bytes: 6},
  ])
  expect(await flexrack('data', 'push', `digits@${first.digest.slice(0, 8)}`)).toMatchObject({status: 4})
  await promisify(execFile)('rm', ['-rf', damaged])
})

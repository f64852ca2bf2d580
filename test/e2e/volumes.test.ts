import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'

let rack: TestLocalRack
let folder: string

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-volumes-'))
  for (const one of ['project', 'nfs', 'scratch']) await mkdir(join(folder, one))
  await writeFile(join(folder, 'nfs/set.txt'), 'numbers\n')
  const file = rack.rack.path
  await writeFile(
    file,
    `${await readFile(file, 'utf8')}volumes:\n  nfs: {path: ${folder}/nfs, kind: shared}\n  scratch: {path: ${folder}/scratch, kind: local}\n  one: {path: ${folder}/nfs, kind: local, nodes: node-1}\n  gone: {path: ${folder}/gone, kind: local}\n`,
  )
})

afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> =>
  program(args, {cwd: join(folder, 'project'), env: {FLEXRACK_HOME: rack.home}})
const manifest = (volumes: string, isolate = true): Promise<void> =>
  writeFile(
    join(folder, 'project/flexrack.yaml'),
    `name: vol\nvolumes: [${volumes}]\nworkspace: {isolate: ${isolate}}\ntrain: {command: train.py, launcher: plain, nodes: 2}\n`,
  )

test('runs and commands have the volumes that they name, as they name them, and what is not there is an error before anything starts', async () => {
  await manifest("nfs, 'scratch:rw'")
  await writeFile(
    join(folder, 'project/train.py'),
    [
      'import os',
      'v = os.environ',
      'print(open(v["FLEXRACK_VOLUME_NFS"] + "/set.txt").read().strip())',
      'open(f"{v[\'FLEXRACK_VOLUME_SCRATCH\']}/{v[\'RANK\']}", "w").write("w")',
      'try:',
      '    open(v["FLEXRACK_VOLUME_NFS"] + "/mine", "w")',
      'except OSError as error:',
      '    print("refused", error.errno)',
      '',
    ].join('\n'),
  )
  const planned = await flexrack('train', '--dry-run', '--no-tracking')
  expect(planned.stdout).toContain(`scratch (${folder}/scratch, to write)`)
  const trained = await flexrack('train', '--no-tracking', '--skip', 'all')
  expect(
    [trained.stdout.match(/numbers/g)?.length, trained.stdout.match(/refused 30/g)?.length],
    trained.stdout + trained.stderr,
  ).toEqual([2, 2])
  expect([await readdir(join(folder, 'scratch')), await readdir(join(folder, 'nfs'))]).toEqual([
    ['0', '1'],
    ['set.txt'],
  ])
  const ran = await flexrack(
    'workspace',
    'exec',
    '--',
    'sh',
    '-c',
    'cat $FLEXRACK_VOLUME_NFS/set.txt; touch $FLEXRACK_VOLUME_SCRATCH/2; touch $FLEXRACK_VOLUME_NFS/no || echo refused',
  )
  expect([ran.stdout, await readdir(join(folder, 'scratch'))]).toEqual(['numbers\nrefused\n', ['0', '1', '2']])

  await manifest('gone')
  for (const words of [
    ['train', '--dry-run', '--no-tracking'],
    ['workspace', 'exec', '--', 'true'],
  ]) {
    expect(await flexrack(...words), words.join(' ')).toMatchObject({
      status: 6,
      stderr: expect.stringContaining(`cannot give the volume gone: ${folder}/gone is not there`),
    })
  }
  await manifest('one')
  expect(await flexrack('train', '--no-tracking')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('with its volumes'),
  })
  expect((await flexrack('rack', 'show')).stdout).toMatch(/one\s+\S+\/nfs\s+local\s+node-1\s+read, write/)

  await manifest('nfs')
  const checked = await flexrack('check', '--json')
  const {
    checked: {volumes},
    findings,
  } = (
    JSON.parse(checked.stdout) as {
      error: {
        details: {checked: {volumes: {node: string; name: string}[]}; findings: {node?: string; message: string}[]}
      }
    }
  ).error.details
  expect(volumes.map(({node, name}) => `${node} ${name}`)).toEqual([
    'node-1 gone',
    'node-1 nfs',
    'node-1 one',
    'node-1 scratch',
    'node-2 gone',
    'node-2 nfs',
    'node-2 scratch',
  ])
  expect(
    findings
      .filter(({message}) => message.includes('volume'))
      .map(({node, message}) => `${node}: ${message.replace(folder, '')}`),
  ).toEqual([
    'node-1: the volume gone cannot be used: /gone is not there',
    'node-2: the volume gone cannot be used: /gone is not there',
  ])
  expect(await readdir(join(folder, 'nfs'))).toEqual(['set.txt'])
})

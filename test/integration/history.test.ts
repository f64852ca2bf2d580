import {execFileSync} from 'node:child_process'
import {chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {basename, join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {machineHere, type Context} from '../../src/lib/base/index.ts'
import {
  COPY,
  FROM_COPY,
  listCopy,
  readMoment,
  RESTORE,
  showHistory,
  type CopiedHistory,
  type CopyKinds,
  type FromCopyKinds,
  type RestoredFromCopy,
  type Restored,
  type RestoreKinds,
  type RestoreWish,
  type WorkspaceHistory,
} from '../../src/lib/history/index.ts'
import {openHost, serviceStatus, WHEELS, type Host} from '../../src/lib/host/index.ts'
import type {AutosaveSpec, Manifest} from '../../src/lib/manifest/index.ts'
import {executePlan, throwIfFailed, valuesOf} from '../../src/lib/plan/index.ts'
import {planWorkspace, upWorkspace} from '../../src/lib/workspace/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let rack: TestLocalRack
let context: Context
let host: Host
let folder: string
let code: string

beforeAll(async () => {
  rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
  context = rack.context()
  host = await openHost(rack.fleet(), rack.rack.nodes[0]!, context)
  folder = await mkdtemp(join(tmpdir(), 'flexrack-history-'))
  await mkdir(join(folder, 'pkg'))
  await writeFile(join(folder, 'train.py'), 'print("one")\n')
  await writeFile(join(folder, 'pkg/model.py'), 'm\n')
})

afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

const manifest = (autosave?: AutosaveSpec): Manifest => ({
  path: join(folder, 'flexrack.yaml'),
  folder,
  name: 'demo',
  workspace: {exclude: [], forward: [], env: {}, ...(autosave && {autosave})},
  tracking: {experiment: 'demo'},
  endpoints: {},
})
const look = (path?: string): Promise<WorkspaceHistory> => showHistory(host, 'demo', path, context)

async function restore(wish: Partial<RestoreWish>): Promise<Restored> {
  const plan = await RESTORE.plan(host, 'demo', {inPlace: false, remove: false, ...wish}, context)
  const outcomes = await executePlan(plan, RESTORE.handlers, {host, context}, context)
  throwIfFailed(outcomes)
  return valuesOf<RestoreKinds, 'history.restore'>(outcomes, 'history.restore')[0] as Restored
}

test('a node saves by itself what is edited there, goes on after a kill, and what was deleted comes back here and there', async () => {
  code = (await upWorkspace([host], manifest({every: 5}), context)).get('node-1')!.codePath
  await expect.poll(async () => (await look()).snapshots.length).toBe(1)
  expect((await planWorkspace([host], manifest({every: 5}), context)).plan.steps).toEqual([]) // so already

  // What only the node has: a notebook, with an odd name, an old time and a mode; and a link.
  await writeFile(join(code, 'notes [1].ipynb'), '{}', {mode: 0o640})
  await utimes(join(code, 'notes [1].ipynb'), 1, 1_234_567_890)
  await writeFile(join(code, 'train.py'), 'print("edited there")\n')
  await host.shell.exec(`ln -s pkg/model.py '${code}/latest'`)
  const {snapshot} = await host.call('history.save', {project: 'demo'})

  // Killed, it is started again by its supervisor.
  const before = (await serviceStatus(host, 'history-demo')).pid!
  process.kill(before, 'SIGKILL')
  await expect
    .poll(async () => (await serviceStatus(host, 'history-demo')).pid)
    .toSatisfy((pid: number | null) => pid !== null && pid !== before)

  await rm(join(code, 'notes [1].ipynb'))
  await rm(join(code, 'latest'))
  await expect
    .poll(async () => (await look('notes [1].ipynb')).versions.map((one) => one.what))
    .toEqual(['file', 'absent'])

  const moment = readMoment(snapshot!.slice(0, 8))
  const to = join(folder, '..', `restored-${process.pid}`)
  try {
    const here = await restore({...moment, to})
    expect(here).toMatchObject({here: true, folder: to, lost: [], refused: []})
    expect(await readFile(join(to, 'train.py'), 'utf8')).toBe('print("edited there")\n')
    expect(await readlink(join(to, 'latest'))).toBe('pkg/model.py')
    expect(await stat(join(to, 'notes [1].ipynb'))).toMatchObject({mode: 0o100640, mtimeMs: 1_234_567_890_000})
    await expect(restore({...moment, to})).rejects.toMatchObject({code: 'CONFLICT'})
  } finally {
    await rm(to, {recursive: true, force: true})
  }
  const there = await restore({...moment, inPlace: true, path: 'notes [1].ipynb'})
  expect(there).toMatchObject({
    folder: null,
    files: [{path: 'notes [1].ipynb', what: 'made'}],
    before: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  })
  expect(await stat(join(code, 'notes [1].ipynb'))).toMatchObject({mode: 0o100640, mtimeMs: 1_234_567_890_000})
})

test('who takes it out of the manifest keeps what was saved', async () => {
  await upWorkspace([host], manifest(), context)
  expect(await look()).toMatchObject({autosave: 'off', every: null})
  expect((await look()).snapshots.length).toBeGreaterThanOrEqual(3)
  expect((await serviceStatus(host, 'history-demo')).state).toBe('absent')
  expect((await planWorkspace([host], manifest(), context)).plan.steps).toEqual([])
})

test('a copy that is fetched stays whole whatever the node does to its own', async () => {
  const to = await mkdtemp(join(tmpdir(), 'flexrack-copy-'))
  const take = async (): Promise<CopiedHistory> => {
    const outcomes = await executePlan(
      await COPY.plan(host, 'demo', to, context),
      COPY.handlers,
      {host, context},
      context,
    )
    throwIfFailed(outcomes)
    return valuesOf<CopyKinds, 'history.copy'>(outcomes, 'history.copy')[0]!
  }
  const restic = (repository: string, ...words: string[]): string =>
    execFileSync('restic', ['-r', repository, '-p', join(to, 'key'), '--no-cache', ...words], {encoding: 'utf8'})
  try {
    await take()
    expect(await take()).toMatchObject({files: 0, bytes: 0})
    const copy = join(to, 'repository')
    const ids = JSON.parse(restic(copy, 'snapshots', '--json')) as {id: string}[]
    const theirs = (await look()).path + '/repository'
    // Whoever saves at this moment holds its lock.
    await vi.waitFor(() => restic(theirs, 'forget', '--prune', ids[0]!.id, ids[1]!.id), {
      timeout: 60_000,
      interval: 500,
    })
    await writeFile(join(code, 'train.py'), 'print("later")\n')
    await host.call('history.save', {project: 'demo'})
    await take()
    const [pack] = (await readdir(join(theirs, 'data'), {recursive: true})).filter((name) => name.length > 60)
    await rm(join(copy, 'data', pack!)) // so that the damaged one would come
    await chmod(join(theirs, 'data', pack!), 0o600)
    const sound = await readFile(join(theirs, 'data', pack!))
    await writeFile(
      join(theirs, 'data', pack!),
      Buffer.concat([sound.subarray(0, -1), Buffer.from([sound.at(-1)! ^ 1])]),
    )
    await expect(take()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('damaged') as string,
    })
    await writeFile(join(theirs, 'data', pack!), sound)
    await take()
    await host.call('history.anew', {project: 'demo'})
    await expect(take()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('another history') as string,
    })
    expect((JSON.parse(restic(copy, 'snapshots', '--json')) as {id: string}[]).map((one) => one.id)).toEqual(
      expect.arrayContaining(ids.map((one) => one.id)),
    )
    restic(copy, 'check', '--read-data')

    // What is in it, and back again, without the node.
    const bring = async (wish: Parameters<typeof FROM_COPY.plan>[1]): Promise<RestoredFromCopy> => {
      const plan = await FROM_COPY.plan(to, wish, context)
      const outcomes = await executePlan(plan, FROM_COPY.handlers, {context}, context)
      throwIfFailed(outcomes)
      return valuesOf<FromCopyKinds, 'history.from_copy'>(outcomes, 'history.from_copy')[0]!
    }
    const {snapshots} = await listCopy(to, context)
    expect(new Set(snapshots.map(({id}) => id))).toEqual(
      new Set((JSON.parse(restic(copy, 'snapshots', '--json')) as {id: string}[]).map((one) => one.id)),
    )
    const whole = join(to, '../', `${basename(to)}-whole`)
    expect(await bring({to: whole})).toMatchObject({snapshot: snapshots.at(-1)!.id, refused: []})
    expect(await readFile(join(whole, 'train.py'), 'utf8')).toBe('print("later")\n')
    await expect(bring({to: whole})).rejects.toMatchObject({code: 'CONFLICT'})
    await rm(whole, {recursive: true})
    expect(await bring({to: whole, path: 'notes [1].ipynb'})).toMatchObject({files: 1})
    expect(await readdir(whole)).toEqual(['notes [1].ipynb'])
    await rm(whole, {recursive: true})
    await expect(bring({to: whole, path: 'never.py'})).rejects.toMatchObject({code: 'NOT_FOUND'})
    await expect(bring({to: whole, snapshot: 'f'.repeat(8)})).rejects.toMatchObject({code: 'NOT_FOUND'})
    await expect(FROM_COPY.plan(code, {to: whole}, context)).rejects.toMatchObject({code: 'NOT_FOUND'})
    expect((await stat(join(to, 'key'))).mode & 0o77).toBe(0)
  } finally {
    await rm(to, {recursive: true, force: true})
  }
})

test('the package of Debian gives a node a restic that runs', async () => {
  const {name, sha256, bytes} = await WHEELS.restic(machineHere()!, context)
  const {path} = await host.call('history.tool', {name, sha256}, {body: bytes})
  expect((await host.shell.exec(`'${path}' version`)).stdout).toContain(`restic ${WHEELS.resticVersion()}`)
})

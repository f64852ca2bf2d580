import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {throwWithDrivers} from '../../../src/cli/sweep/unreached.ts'
import {
  endBackground,
  findBackground,
  followLog,
  listBackgrounds,
  startBackground,
  type Background,
} from '../../../src/lib/background/index.ts'
import {
  CliError,
  makeContext,
  processIdentity,
  silentReporter,
  StopRequest,
  type Context,
} from '../../../src/lib/base/index.ts'
import {filesOf, openFolder, writeRecord, type BackgroundRecord} from '../../../src/lib/background/record.ts'

const WORKER = join(import.meta.dirname, '../../fixtures/background/worker.ts')
let home: string
let context: Context
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-background-'))
  context = makeContext({env: {...process.env, FLEXRACK_HOME: home}})
})
afterAll(async () => {
  for (const {name, pid} of await listBackgrounds(context))
    if (pid !== process.pid) await endBackground(name, {grace: 0}, context)
  await rm(home, {recursive: true})
})

function start(name: string, order: string, parts: Partial<Context> = {}): Promise<'begun' | 'over'> {
  return startBackground(
    {name, project: 'proj', words: [process.execPath, WORKER, name], order},
    {...context, ...parts},
  )
}

async function record(parts: Partial<BackgroundRecord>): Promise<BackgroundRecord> {
  const made = {
    name: 'made',
    project: 'proj',
    pid: process.pid,
    identity: (await processIdentity(process.pid)) ?? '',
    machine: (await import('node:os')).hostname(),
    started: '2026-01-01T00:00:00Z',
    ended: null,
    why: null,
    log: '',
    ...parts,
  }
  await openFolder(made.name, context)
  await writeRecord(made, context)
  return made
}

test('a process is told from another one with its pid, and one that is only waited for is none', async () => {
  const own = await processIdentity(process.pid)
  expect([own, await processIdentity(process.pid), await processIdentity(2 ** 30)]).toEqual([
    expect.any(String),
    own,
    undefined,
  ])
  const child = spawn('sleep', ['600'])
  await once(child, 'spawn')
  expect(await processIdentity(child.pid as number)).not.toBe(own)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await processIdentity(child.pid as number)).toBeUndefined()
})

test('what became of it is known from its file: running, ended, lost, or on another machine', async () => {
  await record({})
  expect(await findBackground('made', context)).toMatchObject({state: 'running', pid: process.pid})
  await record({identity: 'another process that had this pid'})
  expect(await findBackground('made', context)).toMatchObject({state: 'lost'})
  await record({identity: 'another', machine: 'elsewhere.example'})
  expect(await findBackground('made', context)).toMatchObject({state: 'elsewhere', machine: 'elsewhere.example'})
  await record({identity: 'another', ended: '2026-01-02T00:00:00Z', why: 'no space'})
  expect(await findBackground('made', context)).toMatchObject({state: 'ended', why: 'no space'})
  expect(await findBackground('never', context)).toBeNull()
  expect(await findBackground('../../made', context)).toBeNull()
  await writeFile(filesOf('torn', context).record, '{"name": "to')
  expect([await findBackground('torn', context), (await listBackgrounds(context)).map((one) => one.name)]).toEqual([
    null,
    ['made'],
  ])
})

test('a later process with its pid is never ended', async () => {
  const child = spawn('sleep', ['600'])
  await once(child, 'spawn')
  await record({name: 'reused', pid: child.pid as number, identity: 'of a process that is gone'})
  expect(await endBackground('reused', {grace: 1000}, context)).toBeNull()
  expect(await processIdentity(child.pid as number)).toBeDefined()
  child.kill('SIGKILL')
  await once(child, 'exit')
})

test('it is asked to end, and killed where it does not', async () => {
  for (const [script, how] of [
    ['echo ready; exec sleep 600', 'requested'],
    ['trap "" TERM; echo ready; while :; do sleep 0.1; done', 'killed'],
  ] as const) {
    const child = spawn('sh', ['-c', script], {stdio: ['ignore', 'pipe', 'ignore']})
    await once(child.stdout, 'data')
    const pid = child.pid as number
    await record({name: how, pid, identity: (await processIdentity(pid)) ?? ''})
    expect(await endBackground(how, {grace: how === 'killed' ? 500 : 60_000}, context)).toEqual({pid, how})
    expect(await processIdentity(pid)).toBeUndefined()
  }
})

test("it begins in a session of its own, without a terminal, and its files are the user's alone", async () => {
  const notes: string[] = []
  expect(await start('begins', 'begin', {reporter: {...silentReporter, note: (text) => notes.push(text)}})).toBe(
    'begun',
  )
  const found = await findBackground('begins', context)
  expect(found).toMatchObject({state: 'running', ended: null})
  const pid = found?.pid as number
  if (process.platform === 'linux') {
    const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? []
    expect([fields[3], fields[4]]).toEqual([String(pid), '0']) // session, tty_nr
    expect(/^Umask:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]).toBe('0077')
    expect((await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')).toEqual([
      process.execPath,
      WORKER,
      'begins',
      '',
    ])
  }
  const {folder, record: file, log} = filesOf('begins', context)
  expect(await Promise.all([folder, file, log].map(async (one) => (await stat(one)).mode & 0o777))).toEqual([
    0o700, 0o600, 0o600,
  ])
  expect([notes, await readFile(log, 'utf8')]).toEqual([['told to begin'], 'told to begin\n'])

  const lines: string[] = []
  const following = followLog('begins', {follow: true, onLines: (some) => lines.push(...some)}, context)
  expect(await endBackground('begins', {grace: 60_000}, context)).toEqual({pid, how: 'requested'})
  await following
  expect([lines, (await findBackground('begins', context))?.state]).toEqual([['told to begin'], 'lost'])
})

test('what it has lost is told with since when and why, until it has it again or is gone', async () => {
  await start('loses', 'lose')
  const {waiting, started, pid} = (await findBackground('loses', context)) as Background
  expect(waiting).toEqual({since: expect.any(String), why: 'no connection to node-1: refused'})
  expect(Date.parse(waiting?.since as string)).toBeGreaterThanOrEqual(Date.parse(started))
  const error = new CliError('NODE_UNREACHABLE', 'no connection to node-1', {
    hint: 'flexrack rack probe',
    details: {node: 'node-1'},
  })
  const reported = throwWithDrivers(error, {project: 'proj', name: 'lo'}, context)
  await expect(reported).rejects.toMatchObject({
    code: 'NODE_UNREACHABLE',
    details: {node: 'node-1', drivers: [{sweep: 'loses', pid, waiting}]},
    hint: 'flexrack rack probe\nflexrack sweep logs loses -f\nflexrack sweep stop loses',
    message: expect.stringMatching(
      new RegExp(
        `^no connection to node-1; known here:\\n  loses: driven by process ${pid} here, which has waited for a connection since now \\(no connection to node-1: refused\\), and tries again for two days at most$`,
      ),
    ),
  })
  for (const [other, of] of [
    [error, {project: 'another'}],
    [error, {project: 'proj', name: 'x'}],
    [new CliError('NOT_FOUND', 'no such sweep'), {project: 'proj'}],
  ] as const)
    await expect(throwWithDrivers(other, of, context)).rejects.toBe(other)
  await endBackground('loses', {grace: 60_000}, context)
  expect(await findBackground('loses', context)).toMatchObject({state: 'lost', waiting: null})
  await start('regains', 'regain')
  expect(await findBackground('regains', context)).toMatchObject({state: 'running', waiting: null})
})

test("what goes wrong before it has begun is its starter's error, with all that belongs to it", async () => {
  await expect(start('fails', 'fail')).rejects.toMatchObject({
    code: 'RESERVED',
    message: 'another run has it',
    hint: 'wait',
    details: {nodes: ['node-1']},
    exitCode: 44,
  })
  expect(await findBackground('fails', context)).toBeNull()
  await expect(start('crashes', 'crash')).rejects.toMatchObject({
    code: 'LOCAL_FAILED',
    message: expect.stringMatching(/ended before it began \(status 1\)/),
    details: {lines: expect.arrayContaining([expect.stringContaining('nobody expects this')])},
  })
  await expect(
    startBackground({name: 'absent', project: 'proj', words: [join(home, 'nothing')], order: null}, context),
  ).rejects.toMatchObject({code: 'ENOENT'})
})

test('where there was nothing to do it says so, and is gone', async () => {
  expect(await start('nothing', 'over')).toBe('over')
  await endBackground('nothing', {self: 60_000, grace: 0}, context)
  expect(await findBackground('nothing', context)).toMatchObject({state: 'ended', why: null})
})

test('Ctrl-C before it has begun ends it, too; a terminal that goes does not', async () => {
  const control = new AbortController()
  const starting = start('stopped', 'wait', {signal: control.signal})
  starting.catch(() => {})
  await expect.poll(() => findBackground('stopped', context)).toMatchObject({state: 'running'})
  control.abort(new StopRequest('user'))
  await expect(starting).rejects.toMatchObject({code: 'INTERRUPTED'})
  expect(await findBackground('stopped', context)).toMatchObject({state: 'lost'})

  const closing = new AbortController()
  closing.abort(new StopRequest('terminal'))
  expect(await start('closed', 'begin', {signal: closing.signal})).toBe('begun')
  expect(await endBackground('closed', {grace: 60_000}, context)).toMatchObject({how: 'requested'})
})

test('of those that ended long ago only some are kept, of those that run all', async () => {
  for (let index = 0; index < 60; index++)
    await record({
      name: `old-${index}`,
      started: `2025-01-01T00:00:${String(index).padStart(2, '0')}Z`,
      ended: '2025-01-02T00:00:00Z',
      identity: 'gone',
    })
  await record({name: 'runs', started: '2024-01-01T00:00:00Z'})
  await openFolder('new', context)
  const kept = (await readdir(filesOf('new', context).folder)).filter(
    (name) => name.startsWith('old-') || name.startsWith('runs'),
  )
  expect(kept).toContain('runs.json')
  expect(kept.length).toBeLessThanOrEqual(51)
  expect([kept.includes('old-59.json'), kept.includes('old-0.json')]).toEqual([true, false])
})

import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {appendFileSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest'
import type {Overview} from '../../src/lib/overview/index.ts'
import type {RunEntry, ShownRun} from '../../src/lib/runs/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack, type Ended} from '../support/program.ts'
import {layRun} from '../support/run-folder.ts'

/** The run's first node, which does not answer, and the two others, as files: node-1 has been chosen to lead it on. */
const NODES = ['gone', 'node-1', 'node-2']
const SPEC = {size: {min: 1, max: 3}}
const LED = {term: 2, leader: 'node-1'}
const LOST = {
  status: 'failed',
  exit: 1,
  partial: true,
  term: 1,
  leader: 'gone',
  outputs: undefined,
  cause: {
    kind: 'gang',
    node: 'node-1',
    rank: null,
    exit: null,
    signal: null,
    at: 1,
    message: 'the leader on gone is gone',
    lines: [],
    others: [],
  },
}

describe("a run whose first leader's node does not answer", () => {
  let local: TestLocalRack
  const supervisors: ChildProcess[] = []
  beforeAll(async () => {
    buildProgram()
    local = await startLocalRack({nodes: 2})
    const yaml = readFileSync(local.rack.path, 'utf8')
    writeFileSync(
      join(local.rack.path, '../mixed.yaml'),
      yaml.replace(/^nodes:\n/m, 'nodes:\n  - name: gone\n    host: 127.0.0.1\n    port: 1\n'),
    )
  }, 60_000)
  afterEach(() => {
    for (const one of supervisors.splice(0)) one.stdin?.end() // its lock ends with cat
  })
  afterAll(() => local.stop())

  const runs = (...words: string[]): Promise<Ended> => flexrack(['runs', ...words, '--rack', 'mixed'], {env: local.env})
  /** What a supervisor is to whoever looks: its lock is held. */
  const hold = async (folder: string): Promise<ChildProcess> => {
    const held = spawn('flock', [join(folder, 'lock'), 'sh', '-c', 'echo held; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    supervisors.push(held)
    await once(held.stdout as NodeJS.ReadableStream, 'data')
    return held
  }
  const write = (folder: string, name: string, value: object): void =>
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(value))

  it('is shown, listed, followed, waited for and stopped by what the new leader says', async () => {
    const result = {
      ...LED,
      cause: null,
      attempts: [
        {attempt: 1, status: 'failed', nodes: NODES, lost: ['gone'], changes: 'x'},
        {attempt: 2, status: 'finished', nodes: ['node-1', 'node-2'], why: 'node-1 leads in the place of gone'},
      ],
    }
    const folders = [1, 2].map((index) =>
      layRun(local.home, 'led-aaaaa', NODES, index, 1, {spec: SPEC, state: {...LED, attempt: 2}, result}),
    )
    writeFileSync(join(folders[1] as string, 'attempts/1/rank-2.log'), 'hello\n')
    appendFileSync(
      join(folders[0] as string, 'events.jsonl'),
      `${JSON.stringify({at: 1, event: 'elected', term: 2, votes: ['node-1', 'node-2'], instead: 'gone'})}\n`,
    )

    const shown = await runs('show', 'led-aaaaa', '--json')
    expect(JSON.parse(shown.stdout) as ShownRun).toMatchObject({
      status: 'finished',
      leader: 'node-1',
      term: 2,
      attempts: [{attempt: 1}, {attempt: 2}],
    })
    expect((await runs('show', 'led-aaaaa')).stdout).toMatch(
      /leader: +node-1, chosen by the others \(gone led at first\)/,
    )
    const listed = await runs('list', '--all', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject({
      runs: [{run: 'led-aaaaa', status: 'finished', leader: 'node-1'}],
      unasked: ['gone'],
    })
    const followed = await runs('logs', 'led-aaaaa', '--follow', '--all-attempts')
    expect(followed).toMatchObject({status: 0, stdout: expect.stringContaining('hello') as string})
    expect(followed.stderr).toContain(
      'node-1 leads the run from now on, chosen by node-1 and node-2, in the place of gone',
    )
    expect(await runs('wait', 'led-aaaaa')).toMatchObject({status: 0, stdout: 'Run led-aaaaa finished.\n'})
    expect(
      JSON.parse((await runs('watch', 'led-aaaaa', '--json')).stdout.trim().split('\n').at(-1) as string),
    ).toMatchObject({status: 'finished', attempt: 2, lost: []})
    expect(await runs('stop', 'led-aaaaa')).toMatchObject({
      status: 0,
      stdout:
        'Run led-aaaaa finished: no process of it is left on node-1, node-2; what is left on gone is not known.\n',
      stderr: expect.stringContaining(
        'whether anything of run led-aaaaa is left there is told, once it answers, by: flexrack runs stop led-aaaaa',
      ) as string,
    })
  }, 60_000)

  it('is waited for while the others choose a leader, and then until that one has ended it', async () => {
    const folders = [1, 2].map((index) =>
      layRun(local.home, 'led-bbbbb', NODES, index, 1, {spec: SPEC, state: {status: 'running', pid: 1}, result: null}),
    )
    const held = await Promise.all(folders.map(hold))
    const waiting = runs('wait', 'led-bbbbb')
    await expect
      .poll(async () => JSON.parse((await runs('show', 'led-bbbbb', '--json')).stdout) as ShownRun)
      .toMatchObject({status: 'running', leader: 'gone', term: 1})
    for (const folder of folders) write(folder, 'state', {status: 'running', attempt: 2, pid: 1, ...LED})
    expect(JSON.parse((await runs('show', 'led-bbbbb', '--json')).stdout)).toMatchObject({
      status: 'running',
      leader: 'node-1',
      term: 2,
    })
    const seconds = Date.now() / 1000
    for (const folder of folders)
      write(folder, 'result', {
        status: 'finished',
        exit: 0,
        cause: null,
        attempts: [],
        started: seconds,
        ended: seconds,
        duration: 1,
        recorded: true,
        outputs: [],
        ...LED,
      })
    for (const one of held) one.stdin?.end()
    expect(await waiting).toMatchObject({status: 0, stdout: 'Run led-bbbbb finished.\n'})
  }, 60_000)

  it('has an end that nobody knows where the others only lost their leader, and every command says so', async () => {
    for (const index of [1, 2])
      layRun(local.home, 'led-ccccc', NODES, index, 1, {spec: SPEC, state: {status: 'ended'}, result: LOST})
    const waited = await runs('wait', 'led-ccccc')
    expect(waited.status).toBe(5)
    expect(waited.stderr).toContain(
      'gone, which led run led-ccccc, does not answer any more, so how the run ended is not known; it is over on node-1, node-2 (node-1: the leader on gone is gone)',
    )
    const unknown = {
      run: 'led-ccccc',
      status: 'unknown',
      cause: null,
      ended: null,
      leader: 'gone',
      term: 1,
      doubt: {
        nodes: ['gone'],
        message: expect.stringContaining('does not answer any more, so how the run ended is not known') as string,
      },
    }
    expect(JSON.parse((await runs('show', 'led-ccccc', '--json')).stdout)).toMatchObject(unknown)
    expect((await runs('show', 'led-ccccc')).stdout).toMatch(
      /run: +led-ccccc unknown\nend: +not known: gone, which led run led-ccccc, .*\n +once gone answers, it is told by: flexrack runs show led-ccccc\n/,
    )
    expect(
      (JSON.parse((await runs('list', '--all', '--json')).stdout) as {runs: RunEntry[]}).runs.find(
        (one) => one.run === 'led-ccccc',
      ),
    ).toMatchObject(unknown)
    const listed = (await runs('list', '--all')).stdout
    expect(listed).toMatch(/led-ccccc +unknown/)
    expect(listed).toContain(
      'How led-ccccc ended is known to gone alone, which did not answer: flexrack runs show led-ccccc',
    )
    expect(
      JSON.parse((await runs('watch', 'led-ccccc', '--json')).stdout.trim().split('\n').at(-1) as string),
    ).toMatchObject({status: 'unknown'})
    const overview = await flexrack(['status', '--rack', 'mixed', '--json'], {env: local.env})
    expect((JSON.parse(overview.stdout) as Overview).runs.find((one) => one.run === 'led-ccccc')).toMatchObject(unknown)
  }, 60_000)
})

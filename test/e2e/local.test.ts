import {mkdtemp, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import type {LocalStatus} from '../../src/lib/local/index.ts'
import {loadRack} from '../../src/lib/rack/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {buildProgram, flexrack, shell, terminal} from '../support/program.ts'

let home: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-local-e2e-'))
  env = {FLEXRACK_HOME: home}
})
afterAll(async () => {
  await flexrack(['local', 'down', '--purge', '--yes', '--grace', '1'], {env})
  await rm(home, {recursive: true, force: true})
})

async function status(): Promise<LocalStatus> {
  return JSON.parse((await flexrack(['local', 'status', '--json'], {env})).stdout) as LocalStatus
}

it('says how to begin where there is nothing yet, and makes nothing', async () => {
  expect(await flexrack(['local', 'status'], {env})).toMatchObject({
    status: 0,
    stdout: 'There is no local rack. Start one with: flexrack local up --nodes 3\n',
  })
  expect((await flexrack(['local', 'up', '--nodes', '2', '--dry-run'], {env})).stdout).toContain(
    'Start node-1 and node-2',
  )
  expect(await readdir(home)).not.toContain('state')
})

it('starts a rack that does not hold the output of the command open', async () => {
  // cat ends only when nobody has the pipe any more.
  const {status: code, stdout} = await shell('$FLEXRACK local up --nodes 2 2>&1 | cat', {env})
  expect(code).toBe(0)
  expect(stdout).toMatch(/running \(pid \d+\)/)
  expect(await status()).toMatchObject({state: 'running', nodes: [{name: 'node-1'}, {name: 'node-2'}]})
})

it('keeps the number of nodes where none is given', async () => {
  const before = await status()
  const {stdout} = await flexrack(['local', 'up', '--json'], {env})
  expect(JSON.parse(stdout)).toMatchObject({pid: before.pid, nodes: before.nodes})
})

it('is seen live on a terminal, which is left as it was', async () => {
  const {status: code, stdout} = await terminal(
    [join(resolve('.'), 'bin/run.js'), 'top', '--interval', '1'],
    // The second look tells how busy the processors were.
    [
      [' busy', '/node-2\r'],
      ['1 of 2, by', '\u001b'],
      ['nodes \u001b[2m2, by', 'q'],
    ],
    {env},
  )
  expect(code).toBe(0)
  expect(stdout).toContain('\u001b[?1049h')
  expect(stdout.lastIndexOf('\u001b[?1049l')).toBeGreaterThan(stdout.lastIndexOf('\u001b[?1049h'))
  const {stdout: lines} = await flexrack(['top', '--once', '--json'], {env})
  expect(JSON.parse(lines)).toMatchObject({
    nodes: [{node: 'node-1', ticks: {all: expect.any(Number)}}, {node: 'node-2'}],
  })
})

it('tells everyone how to start it again where its process has gone', async () => {
  process.kill((await status()).pid ?? 0, 'SIGKILL')
  expect(await flexrack(['status'], {env})).toMatchObject({
    status: 8,
    stdout: expect.stringContaining('try: flexrack local up\n'),
  })
  expect(await flexrack(['runs', 'list'], {env})).toMatchObject({
    stderr: expect.stringContaining('\n  try: flexrack local up\n'),
  })
  expect((await flexrack(['local', 'up'], {env})).status).toBe(0)
  expect((await flexrack(['status'], {env})).status).toBe(0)
})

it('asks before it ends what runs on nodes that go', async () => {
  const fleet = openFleet((await loadRack('local', env)).nodes, makeContext())
  await (await fleet.shell('node-2')).run('sleep 100419 >/dev/null 2>&1 &')
  await fleet.close()
  const refused = await flexrack(['local', 'up', '--nodes', '1'], {env})
  expect(refused).toMatchObject({status: 2, stdout: ''})
  expect(refused.stderr).toContain('--yes')
  expect((await status()).nodes[1]?.processes).toBe(1)
  const answered = await terminal(
    [resolve('bin/run.js'), 'local', 'up', '--nodes', '1'],
    [['Something runs on node-2', 'y\r']],
    {env},
  )
  expect(answered.status).toBe(0)
  expect((await status()).nodes).toHaveLength(1)
})

it('takes the rack down, and once more', async () => {
  expect(await flexrack(['local', 'down'], {env})).toMatchObject({status: 0, stdout: 'The local rack is down.\n'})
  expect(await flexrack(['local', 'down'], {env})).toMatchObject({status: 0, stdout: 'The local rack is down.\n'})
  expect((await flexrack(['local', 'status'], {env})).stdout).toContain('stopped; start it with: flexrack local up')
})

it('removes homes only when it is sure', async () => {
  const {status: code, stderr} = await flexrack(['local', 'down', '--purge'], {env})
  expect([code, stderr.includes('--yes')]).toEqual([2, true])
  expect(
    (await terminal([resolve('bin/run.js'), 'local', 'down', '--purge'], [['Remove the homes', 'n\r']], {env})).status,
  ).not.toBe(0)
  expect((await status()).state).toBe('stopped')
  expect(JSON.parse((await flexrack(['local', 'down', '--purge', '--yes', '--json'], {env})).stdout)).toEqual({
    ended: 0,
    purged: true,
  })
  expect((await status()).state).toBe('absent')
})

import {readFile, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {Overview} from '../../../src/lib/overview/index.ts'
import {startLocalRack, type TestLocalRack} from '../../support/local-rack.ts'
import {buildProgram, flexrack} from '../../support/program.ts'
import {layRun} from '../../support/run-folder.ts'

let local: TestLocalRack

beforeAll(async () => {
  buildProgram()
  local = await startLocalRack({nodes: 2})
  const yaml = await readFile(local.rack.path, 'utf8')
  await writeFile(
    join(local.rack.path, '../mixed.yaml'),
    `${yaml.trimEnd()}\n  - name: gone\n    host: 127.0.0.1\n    port: 1\n`,
  )
})
afterAll(() => local.stop())

describe('flexrack status', () => {
  it('shows nodes, head, runs and endpoints of a rack where nothing goes on yet', async () => {
    const {status, stdout} = await flexrack(['status', '--rack', 'local', '--json'], {env: local.env})
    expect(status).toBe(0)
    const overview = JSON.parse(stdout) as Overview
    expect(overview).toMatchObject({
      rack: 'local',
      nodes: [
        {node: 'node-1', ok: true},
        {node: 'node-2', ok: true},
      ],
      head: {node: 'node-1', state: 'stopped'},
      runs: [],
      endpoints: [],
      unknown: [],
    })
    expect(overview.nodes[0]?.cores).toBeGreaterThan(0)
    expect(overview.nodes[0]?.memory?.available).toBeLessThanOrEqual(overview.nodes[0]?.memory?.total ?? 0)
  })

  it('shows runs that are over, the second time from what the first has written down', async () => {
    const names = local.rack.nodes.map((node) => node.name)
    const folders = [
      layRun(local.home, 'demo-aaaaa', names, 0, 2),
      layRun(local.home, 'demo-aaaaa', names, 1, 2),
      layRun(local.home, 'demo-bbbbb', names, 1, 1),
    ]
    const summaries = folders.map((folder) => join(folder, 'summary.json'))
    const ask = async (): Promise<Overview['runs']> =>
      (JSON.parse((await flexrack(['status', '--rack', 'local', '--json'], {env: local.env})).stdout) as Overview).runs
    const first = await ask()
    expect(
      first.map(({run, status, worldSize}) => ({run, status, worldSize})).sort((a, b) => a.run.localeCompare(b.run)),
    ).toEqual([
      {run: 'demo-aaaaa', status: 'finished', worldSize: 4},
      {run: 'demo-bbbbb', status: 'finished', worldSize: 2},
    ])
    const written = await Promise.all(summaries.map((file) => readFile(file, 'utf8')))
    expect(await ask()).toEqual(first)
    await writeFile(summaries[0] as string, '') // as a crash of the machine may leave it
    expect(await ask()).toEqual(first)
    expect(await readFile(summaries[0] as string, 'utf8')).toBe(written[0])
    await rm(folders[2] as string, {recursive: true})
    expect((await ask()).map(({run}) => run)).toEqual(['demo-aaaaa'])
  })

  it('shows a node that does not answer with the reason, the others as they are, and exits with 8', async () => {
    const human = await flexrack(['status', '--rack', 'mixed'], {env: local.env})
    expect(human.status).toBe(8)
    expect(human.stdout).toMatch(/node-1 +127\.0\.0\.1 +ok/)
    expect(human.stdout).toMatch(/gone +127\.0\.0\.1 +NODE_UNREACHABLE/)
    expect(human.stdout).toContain('no connection to gone: nothing listens on 127.0.0.1:1')
    const {status, stdout} = await flexrack(['status', '--rack', 'mixed', '--json'], {env: local.env})
    expect(status).toBe(8)
    expect((JSON.parse(stdout) as Overview).nodes.map((node) => node.ok)).toEqual([true, true, false])
  })
})

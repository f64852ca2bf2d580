import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {Overview} from '../../../src/lib/overview/index.ts'
import {startLocalRack, type TestLocalRack} from '../../support/local-rack.ts'
import {buildProgram, flexrack} from '../../support/program.ts'

let local: TestLocalRack

beforeAll(async () => {
  buildProgram()
  local = await startLocalRack({nodes: 2})
  const yaml = await readFile(local.rack.path, 'utf8')
  await writeFile(join(local.rack.path, '../mixed.yaml'), `${yaml.trimEnd()}\n  - name: gone\n    host: 127.0.0.1\n    port: 1\n`)
})
afterAll(() => local.stop())

describe('flexrack status', () => {
  it('shows nodes, head, runs and endpoints of a rack where nothing goes on yet', async () => {
    const {status, stdout} = await flexrack(['status', '--rack', 'local', '--json'], {env: local.env})
    expect(status).toBe(0)
    const overview = JSON.parse(stdout) as Overview
    expect(overview).toMatchObject({
      rack: 'local',
      nodes: [{node: 'node-1', ok: true}, {node: 'node-2', ok: true}],
      head: {node: 'node-1', state: 'stopped'},
      runs: [],
      endpoints: [],
      unknown: [],
    })
    expect(overview.nodes[0]?.cores).toBeGreaterThan(0)
    expect(overview.nodes[0]?.memory?.available).toBeLessThanOrEqual(overview.nodes[0]?.memory?.total ?? 0)
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

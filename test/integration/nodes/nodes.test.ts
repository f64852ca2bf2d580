import {existsSync} from 'node:fs'
import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {openHost, serviceStatus, startService} from '../../../src/lib/host/index.ts'
import {installNodes, planUninstall, uninstallNodes} from '../../../src/lib/install/index.ts'
import {probeNodes, throwIfAnyFailed} from '../../../src/lib/nodes/index.ts'
import {openFleet} from '../../../src/lib/ssh/index.ts'
import {startLocalRack, type TestLocalRack} from '../../support/local-rack.ts'

let local: TestLocalRack

beforeAll(async () => {
  local = await startLocalRack({nodes: 2})
})

afterAll(async () => {
  await local?.stop()
})

describe('probing nodes', () => {
  it('measures cores, memory, disk, Python, interfaces, routes and the clock of each', async () => {
    const reports = await probeNodes(local.rack.nodes, local.fleet(), local.context(), {peers: local.rack.nodes})
    expect(reports.map((report) => [report.node, report.ok])).toEqual([
      ['node-1', true],
      ['node-2', true],
    ])
    const {facts, clock} = reports[0]!.value!
    expect(facts.cpu?.cores).toBeGreaterThan(0)
    expect(facts.memory?.total).toBeGreaterThan(facts.memory!.available)
    expect(facts.disk).toMatchObject({writable: true})
    expect(facts.python?.version).toMatch(/^3\./)
    expect(facts.interfaces?.find((one) => one.name === 'lo')?.addresses).toContain('127.0.0.1/8')
    expect(facts.routes).toEqual({'node-2': {to: '127.0.0.1', from: '127.0.0.1', interface: 'lo'}})
    expect(facts.missing).toEqual({})
    expect(Math.abs(clock.ahead)).toBeLessThanOrEqual(clock.within + 0.1)
  })

  it('reports an unreachable node among good ones, and all of them in the error', async () => {
    const nodes = [...local.rack.nodes, {...local.rack.nodes[0]!, name: 'gone', port: 1}]
    const fleet = openFleet(nodes, local.context())
    try {
      const reports = await probeNodes(nodes, fleet, local.context())
      expect(reports.map((report) => [report.node, report.ok, report.code])).toEqual([
        ['node-1', true, undefined],
        ['node-2', true, undefined],
        ['gone', false, 'NODE_UNREACHABLE'],
      ])
      expect(() => throwIfAnyFailed(reports)).toThrow(
        expect.objectContaining({code: 'SOME_NODES_FAILED', exitCode: 8, details: {nodes: reports}}),
      )
    } finally {
      await fleet.close()
    }
  })
})

describe('installing and uninstalling', () => {
  it('puts the program there and removes exactly what is listed', async () => {
    const fleet = local.fleet()
    const reports = await installNodes(local.rack, local.rack.nodes, fleet, local.context())
    throwIfAnyFailed(reports)
    const root = reports[0]!.value!.root
    expect(existsSync(join(root, 'installed.jsonl'))).toBe(true)
    await mkdir(join(root, 'mine'))
    await writeFile(join(root, 'mine', 'notes.txt'), 'not of flexrack\n')
    const planned = await planUninstall(local.rack, local.rack.nodes, fleet, local.context())
    expect(planned.plan.steps.map((step) => step.id)).toEqual(['uninstall:node-1', 'uninstall:node-2'])
    expect(existsSync(join(root, 'program'))).toBe(true)
    const gone = await uninstallNodes(planned, local.rack.nodes, fleet, local.context())
    expect(gone[0]!.value!.left).toEqual([{path: join(root, 'mine'), why: 'not made by flexrack'}])
    expect(existsSync(join(root, 'program'))).toBe(false)
    expect(existsSync(join(root, 'mine', 'notes.txt'))).toBe(true)
    expect(existsSync(reports[1]!.value!.root)).toBe(false)
  })

  it('puts nothing on a node only to find that nothing is there', async () => {
    const fleet = local.fleet()
    const planned = await planUninstall(local.rack, [local.rack.nodes[1]!], fleet, local.context())
    expect(planned).toEqual({plan: {command: 'rack uninstall local', steps: []}, failed: []})
    const reports = await uninstallNodes(planned, [local.rack.nodes[1]!], fleet, local.context())
    expect(reports[0]!.value).toEqual({removed: [], left: [], ended: 0})
    expect(await (await fleet.shell('node-2')).run('ls -A')).not.toContain('.flexrack')
  })

  it('refuses while a service runs, and ends it when forced', async () => {
    const fleet = local.fleet()
    const node = local.rack.nodes[1]!
    const host = await openHost(fleet, node, local.context())
    await startService(host, {id: 'sleeper', argv: ['sleep', '600']})
    await expect.poll(() => serviceStatus(host, 'sleeper')).toMatchObject({state: 'running'})
    const {pid} = await serviceStatus(host, 'sleeper')
    const refused = await uninstallNodes(
      await planUninstall(local.rack, [node], fleet, local.context()),
      [node],
      fleet,
      local.context(),
    )
    expect(refused[0]).toMatchObject({ok: false, code: 'CONFLICT'})
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    const forced = await uninstallNodes(
      await planUninstall(local.rack, [node], fleet, local.context(), {force: true, grace: 2}),
      [node],
      fleet,
      local.context(),
    )
    expect(forced[0]).toMatchObject({ok: true})
    expect(forced[0]!.value!.ended).toBeGreaterThan(0)
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    expect(existsSync(host.root)).toBe(false)
  })
})

import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, type CliError} from '../../src/lib/base/index.ts'
import {openHost} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {parseSkip, runPreflight, type CheckName, type PreflightResult} from '../../src/lib/preflight/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {findAddresses, planTrain, runPlan, type PreflightChoice} from '../../src/lib/train/index.ts'
import {preflightText} from '../../src/cli/train/preflight-text.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'

/** What a loaded machine does to the rate of a pair may be a warning; a cut or a shaped way is an error. */
const errorsOf = (result: PreflightResult) =>
  result.findings.filter((one) => one.severity === 'error').map((one) => [one.check, one.pair?.toSorted()])
const NOT_WAYS: CheckName[] = ['versions', 'limits', 'shm', 'disk', 'rdma', 'gpus', 'leftovers']

describe.skipIf(!mayMakeNetworks())('nodes with networks of their own', () => {
  let net: TestNetRack
  let folder: string
  let fleet: Fleet
  const context = makeContext({env: process.env})
  const undo: (() => void)[] = []
  beforeAll(async () => {
    net = await startNetRack(4, await sharedEnvironments())
    folder = await mkdtemp(join(tmpdir(), 'flexrack-preflight-'))
    fleet = openFleet(net.rack.nodes, context)
  }, 60_000)
  afterEach(() => {
    for (const one of undo.splice(0)) one()
  })
  afterAll(async () => {
    await fleet?.close()
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  })
  /** Changes a node's network until the test has ended. */
  const change = (node: string, words: string[], back: string[]): void => {
    net.inside(node, ...words)
    undo.push(() => net.inside(node, ...back))
  }
  const preflight = async (skip: CheckName[] = NOT_WAYS): Promise<PreflightResult> => {
    const hosts = await Promise.all(net.rack.nodes.map((node) => openHost(fleet, node, context)))
    const addresses = await findAddresses(net.rack.nodes, hosts, context)
    return runPreflight(
      {nodes: hosts.map((host) => ({host, address: addresses[host.node]?.address as string})), skip, processes: 1},
      context,
    )
  }

  test('nothing is wrong: every way is open, every pair was measured, and no port stays', async () => {
    const result = await preflight(parseSkip('disk,shm,limits'))
    expect(errorsOf(result)).toEqual([])
    expect(result.ways.filter((way) => !way.rendezvous && way.ms !== undefined).length).toBe(12)
    expect(result.ways.filter((way) => way.rendezvous).length).toBe(3)
    expect(result.pairs).toEqual({possible: 6, measured: 6})
    expect(result.rates.every((one) => (one.rate ?? 0) > 1e6)).toBe(true)
    const listening = net.rack.nodes.map(({name, port}) =>
      net
        .inside(name, 'ss', '-Hltn')
        .split('\n')
        .filter((line) => line !== '' && !line.includes(`:${port} `)),
    )
    expect(listening).toEqual([[], [], [], []])
  })

  test('a pair that is cut by a route is named, and no other', async () => {
    const route = ['blackhole', `${net.addresses['node-4']}/32`]
    change('node-2', ['ip', 'route', 'add', ...route], ['ip', 'route', 'del', ...route])
    const result = await preflight([...NOT_WAYS, 'bandwidth'])
    expect(result.ok).toBe(false)
    expect(result.findings.map((one) => [one.severity, one.check, one.pair?.toSorted()])).toEqual([
      ['error', 'reach', ['node-2', 'node-4']],
    ])
    expect(result.findings[0]?.message).toMatch(/^node-\d and node-\d do not reach each other/)
    const rows = preflightText(result)
      .split('\n')
      .filter((line) => line.startsWith('node-'))
      .map((line) => line.split(/ {2,}/))
    expect(rows.map((row) => row.map((cell) => /route|silent/.test(cell)))).toEqual([
      [false, false, false, false, false],
      [false, false, false, false, true],
      [false, false, false, false, false],
      [false, false, true, false, false],
    ])
  })

  test('a slow pair is named, and no other', async () => {
    const to = net.addresses['node-3'] as string
    const tc = (...words: string[]): string => net.inside('node-1', 'tc', ...words)
    // 0: what no filter names is not shaped
    tc('qdisc', 'add', 'dev', 'eth0', 'root', 'handle', '1:', 'htb', 'default', '0')
    undo.push(() => tc('qdisc', 'del', 'dev', 'eth0', 'root'))
    tc('class', 'add', 'dev', 'eth0', 'parent', '1:', 'classid', '1:3', 'htb', 'rate', '20mbit', 'quantum', '1514')
    tc(
      'filter',
      'add',
      'dev',
      'eth0',
      'parent',
      '1:',
      'protocol',
      'ip',
      'u32',
      'match',
      'ip',
      'dst',
      `${to}/32`,
      'flowid',
      '1:3',
    )
    const result = await preflight()
    expect(errorsOf(result)).toEqual([['bandwidth', ['node-1', 'node-3']]])
    expect(result.findings[0]?.message).toMatch(
      /node-1 (?:to|and) node-3 a TCP stream carries \d+(?:\.\d)? Mbit\/s.*, where .* is usual here$/,
    )
    expect(preflightText(result)).toMatch(/^node-1 +\. +\S+ +\d+(\.\d)?M ! +\S+$/m)
  })

  test('training is refused before anything starts, --force goes on, --skip does not look', async () => {
    for (const [node, other] of [
      ['node-1', 'node-2'],
      ['node-2', 'node-1'],
    ] as const) {
      const route = ['prohibit', `${net.addresses[other]}/32`]
      change(node, ['ip', 'route', 'add', ...route], ['ip', 'route', 'del', ...route])
    }
    await writeFile(join(folder, 'train.py'), 'print("up")\n')
    const manifest: Manifest = {
      path: join(folder, 'flexrack.yaml'),
      folder,
      name: 'proj',
      workspace: {exclude: [], forward: [], env: {}},
      train: {
        command: ['train.py'],
        launcher: 'plain',
        nodes: 3,
        processesPerNode: 1,
        restarts: 0,
        outputs: [],
        env: {},
        grace: 1,
      },
      tracking: {experiment: 'proj'},
      endpoints: {},
    }
    const place = {manifest, rack: net.rack, fleet}
    // The leader is on node-3, which everybody reaches.
    const rack = {...net.rack, nodes: [net.rack.nodes[2]!, net.rack.nodes[0]!, net.rack.nodes[1]!]}
    const train = async (choice: PreflightChoice) => {
      const plan = await planTrain(
        {...place, rack},
        {args: [], tracking: false, preflight: {...choice, skip: [...choice.skip, 'bandwidth']}},
        context,
      )
      let preflight: PreflightResult | undefined
      const trained = await runPlan(
        plan,
        {...place, rack},
        {detach: false, onStart: (_run, started) => (preflight = started.preflight), onLines: () => {}},
        context,
      )
      return {preflight: preflight as PreflightResult | undefined, trained}
    }
    const refused = (await train({skip: [], force: false}).catch((error: unknown) => error)) as CliError
    expect(refused).toMatchObject({code: 'PREFLIGHT_FAILED', hint: '--skip bandwidth,reach'})
    expect(errorsOf(refused.details.preflight as PreflightResult)).toEqual([['reach', ['node-1', 'node-2']]])
    const forced = await train({skip: [], force: true})
    expect([forced.trained.status, forced.preflight?.ok]).toEqual(['finished', false])
    const skipped = await train({skip: ['reach'], force: false})
    expect([skipped.trained.status, skipped.preflight?.ok, skipped.preflight?.ways]).toEqual(['finished', true, []])
  })
})

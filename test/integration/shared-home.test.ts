import {existsSync} from 'node:fs'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {openHost, serviceStatus, startService, stopService, type Host} from '../../src/lib/host/index.ts'
import {planUninstall, uninstallNodes} from '../../src/lib/install/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {openRuns} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {findWorkspaces, upWorkspace} from '../../src/lib/workspace/index.ts'
import {filesBelow, mayMakeMachines, startSharedHome, type SharedHome} from '../support/shared-home.ts'

const may = mayMakeMachines()
if (!may) console.warn('skipped: machines with one home need root, for namespaces')

describe.skipIf(!may)('machines that share a home', () => {
  let shared: SharedHome
  let folder: string
  let fleet: Fleet
  let context: Context
  let hosts: [Host, Host]

  beforeAll(async () => {
    shared = await startSharedHome(['alpha', 'beta'])
    folder = await mkdtemp(join(tmpdir(), 'flexrack-shared-home-'))
    context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'own')}})
    fleet = openFleet(shared.rack.nodes, context)
    // At the same time: who is first is chosen by nobody, and one of them is.
    hosts = (await Promise.all(shared.rack.nodes.map((node) => openHost(fleet, node, context)))) as [Host, Host]
  })
  afterAll(async () => {
    await fleet?.close()
    await shared?.stop()
    if (folder) await rm(folder, {recursive: true, force: true})
  })

  const manifest = (): Manifest => ({
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: ['own'], forward: [], env: {}},
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 2,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
    },
    tracking: {experiment: 'proj'},
    endpoints: {},
  })

  test('a training has its own run, workspace and lock on each, and one environment that was built once', async () => {
    await writeFile(
      join(folder, 'train.py'),
      'import os, socket\nprint(socket.gethostname(), os.environ["FLEXRACK_NODE"], os.environ["RANK"], flush=True)\n',
    )
    const place = {manifest: manifest(), rack: shared.rack, fleet}
    const plan = await planTrain(place, {args: [], tracking: false}, context)
    const lines: string[] = []
    const {run, ...trained} = await runPlan(
      plan,
      place,
      {detach: false, onLines: (some) => void lines.push(...some.map((line) => line.text))},
      context,
    )
    expect(trained).toMatchObject({status: 'finished'})
    expect(lines.toSorted()).toEqual(['alpha alpha 0', 'beta beta 1'])
    const [alpha, beta] = hosts
    expect(alpha.root).not.toBe(beta.root)
    expect(alpha.environments).toBe(beta.environments)
    for (const {root} of hosts) expect(existsSync(join(root, 'runs', run, 'spec.json')), root).toBe(true)
    const listed = (await openRuns({rack: shared.rack, fleet}, context).list({all: true, limit: 5})).runs
    expect(listed.map((one) => [one.run, one.nodes, one.status])).toEqual([[run, ['alpha', 'beta'], 'finished']])
    expect(await alpha.call('environment.list', null)).toMatchObject([
      {
        users: expect.arrayContaining([
          expect.objectContaining({root: alpha.root}),
          expect.objectContaining({root: beta.root}),
        ]),
      },
    ])
  })

  test('a second connection finds the folder of its machine again, and a service of one name is one on each', async () => {
    const other = openFleet(shared.rack.nodes, context)
    const again = await Promise.all(shared.rack.nodes.map((node) => openHost(other, node, context)))
    expect(again.map((host) => host.root)).toEqual(hosts.map((host) => host.root))
    const service = {
      id: 'endpoint-one',
      argv: ['sh', '-c', 'hostname; exec sleep 600'],
      restart: {max: 3, windowSeconds: 60},
    }
    const started = await Promise.all(again.map((host) => startService(host, service)))
    expect(started.map((one) => one.started)).toEqual([true, true])
    for (const host of again)
      await expect.poll(async () => (await serviceStatus(host, 'endpoint-one')).state).toBe('running')
    const [alpha, beta] = again as [Host, Host]
    await stopService(alpha, 'endpoint-one')
    expect((await serviceStatus(alpha, 'endpoint-one')).state).toBe('stopped')
    expect(await serviceStatus(beta, 'endpoint-one')).toMatchObject({state: 'running', restarts: 0})
    await stopService(beta, 'endpoint-one')
    await other.close()
  })

  test('workspaces are up on both, each with what the other does not have', async () => {
    await upWorkspace([hosts[0]], {...manifest(), name: 'mine'}, context)
    expect((await findWorkspaces(hosts[0], undefined, context)).map((one) => one.project).toSorted()).toEqual([
      'mine',
      'proj',
    ])
    expect((await findWorkspaces(hosts[1], undefined, context)).map((one) => one.project)).toEqual(['proj'])
  })

  test('what is uninstalled on one stays on the other, and the last one leaves nothing', async () => {
    const [first, second] = hosts[0].root.endsWith('.flexrack') ? [0, 1] : [1, 0]
    const nodes = [shared.rack.nodes[first]!, shared.rack.nodes[second]!] as const
    const stays = hosts[second] as Host
    const {hash, path} = (await stays.call('environment.list', null))[0]!
    const planned = await planUninstall(shared.rack, [nodes[0]], fleet, context)
    expect(
      planned.plan.steps
        .flatMap((step) => (step.kind === 'node.uninstall' ? step.input.paths : []))
        .filter((one) => one.includes(hash)),
    ).toEqual([])
    const [gone] = await uninstallNodes(planned, [nodes[0]], fleet, context)
    // It is on the list of the one that has built it, which may be either.
    expect(gone?.value?.left.filter((one) => one.why !== 'other machines use it')).toEqual([])
    expect(existsSync(join(path, 'bin', 'python'))).toBe(true)
    const [environment] = await stays.call('environment.list', null)
    expect([environment?.hash, environment?.ready, [...new Set(environment?.users.map((one) => one.root))]]).toEqual([
      hash,
      true,
      [stays.root],
    ])
    expect((await findWorkspaces(stays, undefined, context)).length).toBe(second === 0 ? 2 : 1)
    const [last] = await uninstallNodes(
      await planUninstall(shared.rack, [nodes[1]], fleet, context),
      [nodes[1]],
      fleet,
      context,
    )
    expect(last?.value?.left).toEqual([])
    expect(filesBelow(shared.home)).toEqual([])
  })

  test('clones of one image are two machines, and login nodes of a Slurm are one', async () => {
    const clones = await startSharedHome(['gamma', 'delta'], {sameMachineId: true})
    const other = openFleet(clones.rack.nodes, context)
    try {
      const apart = await Promise.all(clones.rack.nodes.map((node) => openHost(other, node, context)))
      expect(new Set(apart.map((host) => host.root)).size).toBe(2)
      const pooled = clones.rack.nodes.map((node) => ({...node, root: '~/login', pooled: true}))
      const [first, second] = [await openHost(other, pooled[0]!, context), await openHost(other, pooled[1]!, context)]
      expect([first.root, second.root]).toEqual([join(clones.home, 'login'), join(clones.home, 'login')])
      const node = await openHost(other, {...pooled[1]!, pooled: false}, context)
      expect(node.root).toBe(join(clones.home, 'login', 'nodes', 'delta'))
    } finally {
      await other.close()
      await clones.stop()
    }
  })
})

import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {openHost} from '../../src/lib/host/index.ts'
import type {Manifest, TrainSpec} from '../../src/lib/manifest/index.ts'
import type {NodeRunDetail} from '../../src/lib/protocol/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {stopRun} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'

/**
 * Rank 0 of the first attempt saves one whole and one half checkpoint, and all wait until they are ended; later
 * attempts tell what they got, and end well.
 */
const SCRIPT = `
import os, time
from pathlib import Path
attempt, rank, flag = os.environ["FLEXRACK_ATTEMPT"], os.environ["RANK"], Path(os.environ["FLAGS"])
found = os.environ.get("FLEXRACK_CHECKPOINT")
print(f"rank {rank} of {os.environ['WORLD_SIZE']} from {Path(found).read_text() if found else None}", flush=True)
if attempt == "1" and rank == "0":
    folder = Path(os.environ["FLEXRACK_OUTPUTS"]) / "checkpoints"
    folder.mkdir()
    (folder / "step-1.pt").write_text("one")
    time.sleep(0.02)
    (folder / "step-2.pt").write_bytes(b"PK\\x03\\x04 an archive that ends too early")
(flag / f"up-{rank}").touch()
while attempt == "1":
    if (flag / f"fail-{rank}").exists(): raise SystemExit("Connection reset by peer")
    time.sleep(0.05)
`

describe.skipIf(!mayMakeNetworks())('a node that a run loses', () => {
  let net: TestNetRack
  let folder: string
  let fleet: Fleet
  const context = makeContext({env: process.env})
  const undo: (() => unknown)[] = []
  beforeAll(async () => {
    net = await startNetRack(4, await sharedEnvironments())
  }, 60_000)
  afterEach(async () => {
    for (const one of undo.splice(0)) await one()
    await fleet.close()
    await rm(folder, {recursive: true, force: true})
  })
  afterAll(async () => {
    await net?.stop()
  })

  /**
   * Starts a run on the first nodes, lets `lose` happen once all ranks are up, and returns what the leader (the first
   * node, or `leader`) says in the end.
   */
  const train = async (
    spec: Partial<TrainSpec>,
    ranks: number,
    lose: (run: string) => Promise<void> | void,
    {exclude, leader = 'node-1'}: {exclude?: string; leader?: string} = {},
  ): Promise<NodeRunDetail> => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-lost-'))
    // of its own: connections to a node whose network was down say nothing for a while
    fleet = openFleet(net.rack.nodes, context)
    await writeFile(join(folder, 'train.py'), SCRIPT)
    const manifest: Manifest = {
      path: join(folder, 'flexrack.yaml'),
      folder,
      name: 'proj',
      workspace: {exclude: ['up-*', 'fail-*'], forward: [], env: {FLAGS: folder}},
      train: {
        command: ['train.py'],
        launcher: 'plain',
        nodes: 3,
        processesPerNode: 1,
        restarts: 0,
        outputs: [],
        env: {},
        grace: 5,
        checkpoint: {path: 'checkpoints/'},
        ...spec,
      },
      tracking: {experiment: 'proj'},
      endpoints: {},
    }
    const place = {manifest, rack: net.rack, fleet}
    const plan = await planTrain(
      place,
      {args: [], exclude, tracking: false, preflight: {skip: [], force: true}},
      context,
    )
    const {run} = await runPlan(
      plan,
      place,
      {
        detach: true,
        onStart: (_run, {found}) =>
          undo.push(() => void stopRun({rack: net.rack, fleet}, found, {kill: true}, context).catch(() => {})),
        onLines: () => {},
      },
      context,
    )
    const {access} = await import('node:fs/promises')
    for (let rank = 0; rank < ranks; rank++)
      await expect
        .poll(() =>
          access(join(folder, `up-${rank}`)).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
    await lose(run)
    const host = await openHost(fleet, nodeOf(leader), context)
    for (;;) {
      const detail = await host.call('run.state', {run, wait: 20})
      if (!detail.live) return detail
    }
  }
  const nodeOf = (name: string): Rack['nodes'][number] =>
    net.rack.nodes.find((one) => one.name === name) as Rack['nodes'][number]
  const change = (node: string, words: string[], back: string[]): void => {
    net.inside(node, ...words)
    undo.push(() => net.inside(node, ...back))
  }
  /** Neither of the two reaches the other any more; everybody else reaches both. */
  const cut = (one: string, other: string): void => {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const way = `${net.addresses[to]}/32`
      change(from, ['ip', 'route', 'add', 'blackhole', way], ['ip', 'route', 'del', 'blackhole', way])
    }
  }
  const filesOf = async (node: string, detail: NodeRunDetail, file: string): Promise<string> => {
    const host = await openHost(fleet, nodeOf(node), context)
    return (await host.shell.exec(`cat ${host.root}/runs/${detail.run}/${file}`)).stdout
  }

  test('only the link to the leader is down: it is told as such, and the run goes on with fewer nodes', async () => {
    const detail = await train({nodes: 8, minNodes: 2}, 3, () => cut('node-1', 'node-2'), {exclude: 'node-4'})
    const [first, second] = detail.result?.attempts ?? []
    expect(first?.cause?.message).toMatch(/^the link between node-1 and node-2 is down: node-3 still reaches node-2 /)
    expect(second).toMatchObject({
      status: 'finished',
      nodes: ['node-1', 'node-3'],
      why: 'goes on without node-2, 2 nodes instead of 3',
    })
    // Whoever is cut off has ended its ranks before the others begin anew (all nodes here have one clock).
    const ended = (await filesOf('node-2', detail, 'events.jsonl'))
      .split('\n')
      .filter((line) => line.includes('"event":"ended"'))
      .map((line) => (JSON.parse(line) as {at: number}).at)
    expect(ended).toHaveLength(1)
    expect(ended[0]).toBeLessThan(second?.started as number)
  }, 240_000)

  test('a link between two members is down: a rank fails because of it, and one of the two is left out', async () => {
    const detail = await train({nodes: 3, minNodes: 2}, 3, async () => {
      cut('node-2', 'node-3')
      await writeFile(join(folder, 'fail-2'), '')
    })
    const [first, second] = detail.result?.attempts ?? []
    expect(first?.cause?.message).toMatch(/^the link between node-2 and node-3 is down: node-1 still reaches node-3/)
    expect(second).toMatchObject({status: 'finished', nodes: ['node-1', 'node-2']})
  }, 240_000)

  test('its network goes down: the spare takes its place, and the run goes on from the newest whole checkpoint', async () => {
    const detail = await train({spares: 1}, 3, () =>
      change('node-2', ['ip', 'link', 'set', 'eth0', 'down'], ['ip', 'link', 'set', 'eth0', 'up']),
    )
    expect(detail.status).toBe('finished')
    const [first, second] = detail.result?.attempts ?? []
    expect(first?.cause?.message).toMatch(
      /^node-2 is lost: node-1, node-3 and node-4 do not reach it \(no connection from node-1 for \d+ s\)/,
    )
    expect(second).toMatchObject({
      nodes: ['node-1', 'node-3', 'node-4'],
      why: 'node-4 takes the place of node-2',
      checkpoint: {name: 'checkpoints/step-1.pt', node: 'node-1'},
    })
    expect(await filesOf('node-4', detail, 'attempts/2/rank-2.log')).toBe('rank 2 of 3 from one\n')
  }, 240_000)

  test('the network of the node that leads goes down: another one leads, both say what is true, and never do two gangs train at once', async () => {
    const detail = await train(
      {spares: 1},
      3,
      async (run) => {
        const spare = await openHost(fleet, nodeOf('node-4'), context)
        await expect
          .poll(
            async () =>
              (await spare.shell.exec(`grep -h '"copied"' ${spare.root}/runs/${run}/events.jsonl; true`)).stdout,
          )
          .toContain('checkpoints/step-1.pt')
        change('node-1', ['ip', 'link', 'set', 'eth0', 'down'], ['ip', 'link', 'set', 'eth0', 'up'])
      },
      {leader: 'node-2'},
    )
    expect(detail).toMatchObject({status: 'finished', result: {leader: 'node-2'}})
    const [first, second] = detail.result?.attempts ?? []
    expect(first?.cause?.message).toMatch(
      /^node-1 is lost: node-2, node-3 and node-4 do not reach it \(no connection from node-2 for \d+ s\)/,
    )
    // Only the lost node had written it.
    expect(second).toMatchObject({
      nodes: ['node-2', 'node-3', 'node-4'],
      why: 'node-4 takes the place of node-1',
      checkpoint: {name: 'checkpoints/step-1.pt', node: 'node-4'},
    })
    expect(await filesOf('node-2', detail, 'attempts/2/rank-0.log')).toBe('rank 0 of 3 from one\n')
    for (const one of undo.splice(1)) await one() // its network is back
    await fleet.close()
    fleet = openFleet(net.rack.nodes, context)
    const old = await openHost(fleet, nodeOf('node-1'), context)
    const said = await old.call('run.state', {run: detail.run, wait: 20})
    expect(said).toMatchObject({status: 'failed', live: false, alive: [], result: {partial: true}})
    expect(said.cause?.message).toMatch(
      /^node-1, which led the run, had no connection to node-2, node-3, node-4 for 30 s/,
    )
    const ended = (await filesOf('node-1', detail, 'events.jsonl'))
      .split('\n')
      .filter((line) => line.includes('"event":"ended"'))
      .map((line) => (JSON.parse(line) as {at: number}).at)
    expect(ended).toHaveLength(1)
    expect(ended[0]).toBeLessThan(second?.started as number)
  }, 240_000)
})

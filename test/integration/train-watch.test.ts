import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {connectHead, startHead} from '../../src/lib/head/index.ts'
import {openRuns, type Runs, type RunView} from '../../src/lib/runs/index.ts'
import {openMlflow, type Mlflow} from '../../src/lib/tracking/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {readUsage, usageReport} from '../../src/lib/usage/index.ts'
import {mayMakeNetworks, startNetRack} from '../support/net-rack.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

let setup: TrainRack
beforeAll(async () => {
  setup = await startTrainRack(2)
  await startHead(setup.rack.rack, setup.rack.fleet(), context())
}, 900_000)
afterAll(() => setup?.stop())

const context = () => makeContext({env: setup.rack.env})
const place = async () => ({rack: setup.rack.rack, fleet: setup.rack.fleet(), manifest: await setup.manifest()})

// A program that is no PyTorch tells of 101 steps of 32 samples itself, as its ranks' progress file
// (flexrack_layout.py) allows; on two nodes each rank takes a quarter longer. Then it waits for the file GO.
const SCRIPT = `import os, struct, time
two = os.environ["WORLD_SIZE"] == "2"
seconds = 12.5 if two else 10.0
with open(os.environ["FLEXRACK_PROGRESS"], "r+b") as file:
    for field, kind, value in [(2, "Q", os.getpid()), (3, "d", time.time()), (4, "d", time.time()), (6, "d", time.time()), (7, "d", time.time() - seconds), (8, "d", seconds), (11, "Q", 3232), (13, "d", 1.25), (5, "Q", 101)]:
        file.seek(field * 8); file.write(struct.pack("<" + kind, value))
print("told", flush=True)
while two and not os.path.exists(os.environ["GO"]): time.sleep(0.05)
`

async function withRuns<T>(use: (runs: Runs) => Promise<T>): Promise<T> {
  const runs = openRuns(await place(), context())
  try {
    return await use(runs)
  } finally {
    await runs.close()
  }
}

async function mlflow(): Promise<Mlflow> {
  const head = await connectHead(setup.rack.rack, setup.rack.fleet(), context())
  return openMlflow({uri: head.uri, token: head.token})
}

test(
  'a run is watched while it goes, shown with its throughput against one node, in MLflow with what it used, and counted after it is removed',
  {timeout: 600_000},
  async () => {
    const one = await setup.train(SCRIPT, {spec: {nodes: 1}, choice: {tracking: true}})
    expect(one.trained.status).toBe('finished')
    await withRuns(async (runs) => {
      expect(await runs.show(one.trained.run)).toMatchObject({
        figures: {samplesPerSecond: 320, ranks: [{rank: 0, node: 'node-1', steps: 101}]},
        scaling: {efficiency: null, why: 'it ran on one node'},
      })
    })

    const go = join(setup.folder, '..', `${Date.now()}.go`)
    const views: RunView[] = []
    const leave = new AbortController()
    const watching: Promise<unknown>[] = []
    const two = await setup.train(SCRIPT, {
      spec: {env: {GO: go}},
      choice: {tracking: true},
      onStart: (run) =>
        watching.push(
          withRuns(async (runs) =>
            runs.watch(
              await runs.find(run),
              {
                every: 0.5,
                signal: leave.signal,
                onView: (view) => {
                  views.push(view)
                  if (
                    view.ranks.length === 2 &&
                    view.ranks.every((rank) => rank.step === 101 && rank.cpu !== null) &&
                    view.nodes.every((node) => node.cpu !== null)
                  )
                    void writeFile(go, '')
                },
              },
              context(),
            ),
          ),
        ),
    })
    await Promise.all(watching)
    expect(two.trained).toMatchObject({status: 'finished', recorded: true})
    expect(two.trained.metrics.filter((metric) => metric.key.startsWith('system/'))).toEqual([])
    const seen = views.find((view) => view.ranks.length === 2 && view.ranks.every((rank) => rank.cpu !== null))
    expect(seen).toMatchObject({
      worldSize: 2,
      step: {least: 101, most: 101},
      ranks: [
        {rank: 0, node: 'node-1'},
        {rank: 1, node: 'node-2'},
      ],
      nodes: [
        {node: 'node-1', ranks: 1},
        {node: 'node-2', ranks: 1},
      ],
      lost: [],
      away: null,
    })
    expect(seen?.nodes.every((node) => (node.memoryTotal ?? 0) > (node.memory ?? 0) && node.netIn !== null)).toBe(true)
    expect(views.at(-1)?.status).toBe('finished')

    await withRuns(async (runs) => {
      const shown = await runs.show(two.trained.run)
      expect(shown.figures).toMatchObject({
        samplesPerSecond: 512,
        dataWait: {seconds: 2.5, share: 0.1},
        gpuHours: 0,
        gpu: null,
      })
      expect(shown.figures?.cpuHours).toBeGreaterThan(0)
      expect(shown.scaling).toMatchObject({
        reference: one.trained.run,
        referenceNodes: 1,
        referenceRate: 320,
        unit: 'samples',
        why: 'the newest finished run on one node with the same command and ranks a node',
      })
      expect(shown.scaling?.efficiency).toBeCloseTo(0.8)
      expect(shown.lastMetrics.filter((metric) => metric.key.startsWith('system/'))).toEqual([])
      expect((await runs.show(two.trained.run, {against: one.trained.run})).scaling).toMatchObject({
        reference: one.trained.run,
        why: 'as asked for',
      })
      await expect(runs.show(two.trained.run, {against: two.trained.run})).rejects.toMatchObject({code: 'USAGE'})
    })

    const client = await mlflow()
    const record = await client.getRun(two.trained.trackedId as string)
    const names = [
      'cpu_utilization_percentage',
      'system_memory_usage_megabytes',
      'network_receive_megabytes',
      'network_transmit_megabytes',
      'disk_read_megabytes',
      'disk_write_megabytes',
    ]
    expect(Object.keys(record.metrics)).toEqual(
      expect.arrayContaining(['node-1', 'node-2'].flatMap((node) => names.map((name) => `system/${node}/${name}`))),
    )
    const single = await client.getRun(one.trained.trackedId as string)
    expect(Object.keys(single.metrics)).toEqual(expect.arrayContaining(names.map((name) => `system/${name}`)))
    expect(await client.metricHistory(single.id, 'system/cpu_utilization_percentage')).toMatchObject([{step: 0}])

    const before = usageReport([await readUsage(await place(), 0, context())], 'project', 0)
    expect(before).toMatchObject({
      rows: [{name: 'proj', runs: 2, running: 0, gpuHours: 0}],
      fromRecords: 0,
      away: null,
      unasked: {},
    })
    expect(before.total.coreHours).toBeGreaterThan(0)
    await withRuns(async (runs) => runs.remove(await runs.find(two.trained.run)))
    expect(usageReport([await readUsage(await place(), 0, context())], 'project', 0).rows).toEqual(before.rows)

    // A run of another account: its files are not ours to read, its record is.
    const other = await client.createRun({
      experimentId: single.experimentId,
      name: 'theirs-1',
      user: 'bob',
      startTime: Date.now() - 3_600_000,
      tags: {
        'flexrack.run': 'theirs-1',
        'flexrack.rack': setup.rack.rack.name,
        'flexrack.project': 'theirs',
        'flexrack.nodes': 'node-1,node-2',
        'mlflow.user': 'bob',
      },
    })
    const metric = (key: string) => ({key, value: 50, timestamp: Date.now(), step: 0})
    await client.logBatch(other.id, {
      metrics: [
        'system/node-1/gpu_0_utilization_percentage',
        'system/node-1/gpu_1_utilization_percentage',
        'system/node-2/gpu_0_utilization_percentage',
        'system/node-2/gpu_1_utilization_percentage',
      ].map(metric),
    })
    await client.updateRun(other.id, {status: 'FINISHED', endTime: Date.now()})
    const users = usageReport([await readUsage(await place(), 0, context())], 'user', 0)
    expect(users.fromRecords).toBe(1)
    expect(users.rows[0]).toMatchObject({name: 'bob', runs: 1, coreHours: null})
    expect(users.rows[0]?.gpuHours).toBeCloseTo(4, 1)
    expect(users.rows).toHaveLength(2)
  },
)

test.skipIf(!mayMakeNetworks())(
  'what ranks send each other is counted on the interface that carries it, on both nodes',
  {timeout: 300_000},
  async () => {
    const net = await startNetRack(2, await sharedEnvironments())
    const {openFleet} = await import('../../src/lib/ssh/index.ts')
    const fleet = openFleet(net.rack.nodes, context())
    try {
      await writeFile(
        join(setup.folder, 'train.py'),
        `import os, socket
SIZE, port = 64 << 20, int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    with socket.create_server((os.environ["MASTER_ADDR"], port)) as server:
        peer, _ = server.accept()
        peer.sendall(bytes(SIZE)); peer.recv(1)
else:
    import time
    while True:
        try: peer = socket.create_connection((os.environ["MASTER_ADDR"], port)); break
        except OSError: time.sleep(0.05)
    left = SIZE
    while left: left -= len(peer.recv(min(left, 1 << 20)))
    peer.sendall(b".")
`,
      )
      const at = {manifest: await setup.manifest(), rack: net.rack, fleet}
      const plan = await planTrain(
        at,
        {args: [], tracking: false, preflight: {skip: ['bandwidth'], force: true}},
        context(),
      )
      const trained = await runPlan(plan, at, {detach: false, onLines: () => {}}, context())
      expect(trained.status).toBe('finished')
      const runs = openRuns(at, context())
      const {figures, folders} = await runs.show(trained.run)
      const summaries = await Promise.all(
        ['node-1', 'node-2'].map(
          async (node) =>
            JSON.parse(await readFile(join(folders[node] as string, 'hardware.json'), 'utf8')) as {
              interface: string
              attempts: Record<string, {net: [number, number]}>
            },
        ),
      )
      expect(summaries.map((one) => one.interface)).toEqual(['eth0', 'eth0'])
      const total = (index: 0 | 1, way: 0 | 1): number =>
        Object.values(summaries[index]?.attempts ?? {}).reduce((sum, one) => sum + one.net[way], 0)
      const size = 64 * 1024 * 1024
      expect([total(0, 1) >= size, total(1, 0) >= size, total(0, 0) < size / 4, total(1, 1) < size / 4]).toEqual([
        true,
        true,
        true,
        true,
      ])
      expect(figures?.sent).toBe(total(0, 1) + total(1, 1))
      await runs.close()
    } finally {
      fleet.close()
      await net.stop()
    }
  },
)

import {readFile, stat} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {gunzipSync} from 'node:zlib'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import type {Hang, TraceSummary} from '../../src/lib/protocol/index.ts'
import {openRuns, type RunStacks} from '../../src/lib/runs/index.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

/** Programs as people write them: nothing in them knows of flexrack. */
const SCRIPT = `import os, time, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
dist.init_process_group("gloo")
rank = dist.get_rank()
class Data(Dataset):
    def __len__(self): return 320
    def __getitem__(self, index):
        DATA
        return torch.full((10,), float(index)), torch.zeros(1)
model = DDP(torch.nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for x, y in DataLoader(Data(), batch_size=8):
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.barrier()
print("through", flush=True)
`
let setup: TrainRack
let requirements: string

beforeAll(async () => {
  setup = await startTrainRack(2)
  requirements = await readFile(
    fileURLToPath(new URL('../../templates/pytorch-ddp/requirements.txt', import.meta.url)),
    'utf8',
  )
}, 900_000)
afterAll(() => setup?.stop())

const script = (data: string): string => SCRIPT.replace('DATA', data)

test(
  'the rank whose data loader sleeps is named at the end, with the reason, and so it is by the profiles',
  {timeout: 900_000},
  async () => {
    const {trained} = await setup.train(script('if rank == 1: time.sleep(0.02)'), {
      requirements,
      // Without torchrun's agents, which import PyTorch, too.
      spec: {launcher: 'plain'},
      choice: {profile: {skip: 10, steps: 3}},
    })
    expect(trained).toMatchObject({status: 'finished', worldSize: 2})
    const {pace} = trained
    expect(pace?.ranks.map((one) => [one.rank, one.steps, one.samples])).toEqual([0, 1].map((rank) => [rank, 40, 320]))
    expect(pace?.slowest).toMatchObject({rank: 1, node: 'node-2'})
    expect(pace?.slowest?.why).toContain('it waits for data')
    expect(pace?.slowest?.loss).toBeGreaterThan(0.3)

    const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, makeContext({env: setup.rack.env}))
    try {
      const profile = await runs.profile(await runs.find(trained.run))
      expect(profile).toMatchObject({wanted: {skip: 10, steps: 3}, live: false, slowest: 1, failed: []})
      expect(
        profile.ranks.map(({rank, node, summary, note}) => [rank, node, summary?.steps, summary?.device, note]),
      ).toEqual([0, 1].map((rank) => [rank, `node-${rank + 1}`, 3, null, null]))
      const {summary} = profile.ranks[1] ?? {}
      expect((summary?.data_wait ?? 0) / (summary?.seconds ?? 1)).toBeGreaterThan(0.5)
      const traces = await runs.bringTraces(profile, join(setup.folder, 'traces'))
      expect(traces.map((path) => basename(path))).toEqual(
        [0, 1].map((rank) => `${trained.run}-rank-${rank}.trace.json.gz`),
      )
      expect((await stat(traces[0] as string)).mode & 0o777).toBe(0o600)
      await holdsAgainst(traces[1] as string, summary as TraceSummary)
    } finally {
      await runs.close()
    }
  },
)

/** The same sums, by what is in the file. */
async function holdsAgainst(path: string, summary: TraceSummary): Promise<void> {
  const {traceEvents} = JSON.parse(gunzipSync(await readFile(path)).toString()) as {
    traceEvents: {ph: string; cat?: string; name: string; ts: number; dur: number}[]
  }
  const named = (start: string) =>
    traceEvents.filter(({ph, cat, name}) => ph === 'X' && cat === 'user_annotation' && name.startsWith(start))
  const [steps, loads, reduced] = [named('ProfilerStep#'), named('enumerate(DataLoader)'), named('gloo:')]
  const end = Math.max(...steps.map(({ts, dur}) => ts + dur))
  const start = Math.min(...steps.map(({ts}) => ts))
  const calls = traceEvents.filter(
    ({ph, cat, name, ts}) => ph === 'X' && cat === 'cpu_op' && name === 'aten::addmm' && ts >= start && ts < end,
  )
  expect(summary.seconds).toBeCloseTo((end - start) / 1e6, 6)
  expect(summary.data_wait).toBeCloseTo(
    loads.filter(({ts}) => ts >= start && ts < end).reduce((sum, {dur}) => sum + dur, 0) / 1e6,
    6,
  )
  expect(summary.collectives.count).toBe(reduced.filter(({ts}) => ts >= start && ts < end).length)
  expect(summary.collectives.count).toBeGreaterThanOrEqual(3)
  expect(summary.operators.find(({name}) => name === 'aten::addmm')).toMatchObject({
    calls: calls.length,
    total: expect.closeTo(calls.reduce((sum, {dur}) => sum + dur, 0) / 1e6, 6),
  })
}

test(
  'a rank that hangs in its data is named with its line while the others wait for the gradients; its stacks can be looked at; the run is stopped',
  {timeout: 600_000},
  async () => {
    const context = makeContext({env: setup.rack.env})
    let stacks: Promise<RunStacks> | undefined
    const {trained, news} = await setup.train(
      script('if rank == 2 and index == 80: print("stuck", flush=True); time.sleep(3600)'),
      {
        requirements,
        spec: {launcher: 'torchrun', processesPerNode: 2, hang: {after: 8, action: 'stop'}},
        onLines: (seen, run) => {
          if (stacks || !seen.some((line) => line.text === 'stuck')) return
          const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, context)
          stacks = runs.find(run).then((found) => runs.stacks(found, undefined))
        },
      },
    )
    const taken = await stacks
    expect(taken?.ranks.map((one) => [one.rank, one.node, one.source])).toEqual(
      [0, 1, 2, 3].map((rank) => [rank, `node-${rank < 2 ? 1 : 2}`, 'faulthandler']),
    )
    expect(taken?.groups.find((group) => group.ranks.includes(2))?.frames[0]).toMatchObject({
      file: 'train.py',
      function: '__getitem__',
    })

    const hang = news.find((one) => one.event === 'hang') as unknown as Hang
    expect(hang.suspects).toEqual([
      {rank: 2, node: 'node-2', why: expect.stringMatching(/^is in data loading, train\.py:9 in __getitem__$/)},
    ])
    expect(hang.message).toMatch(
      /^ranks 0, 1, 3 wait in DDP gradients #\d+; rank 2 \(node-2\) has not come: it is in data loading/,
    )
    expect(trained).toMatchObject({status: 'failed', cause: {kind: 'hang', rank: 2, node: 'node-2'}})
    expect(await setup.alive(trained.run)).toEqual([])
  },
)

test(
  'asynchronous operations, in which no rank says that it waits, are told apart by the flight recorder; the gang starts again',
  {timeout: 600_000},
  async () => {
    const {trained, lines, news} = await setup.train(
      `import os, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def exchange(work): work.wait()
for step in range(100):
    if dist.get_rank() == 1 and step == 20 and os.environ["FLEXRACK_ATTEMPT"] == "1": time.sleep(3600)
    exchange(dist.all_reduce(torch.ones(1), async_op=True))
    optimizer.step()
print("through", flush=True)
`,
      // Here rather than under torchrun, where six processes would import PyTorch again.
      {requirements, spec: {launcher: 'plain', restarts: 1, hang: {after: 8, action: 'restart'}}},
    )
    const hang = news.find((one) => one.event === 'hang') as unknown as Hang
    expect(hang.suspects).toEqual([{rank: 1, node: 'node-2', why: 'waits, train.py:7 in <module>'}])
    expect(hang.message).toMatch(/^rank 0 waits in all_reduce #\d+; rank 1/)
    expect(trained).toMatchObject({status: 'finished', attempts: 2})
    expect(
      textOf(
        lines.filter((line) => line.attempt === 2),
        1,
      ),
    ).toEqual(['through'])
    expect(await setup.alive(trained.run)).toEqual([])
  },
)

test('with watch: false nothing of ours is in the ranks, and nothing is told of them', {timeout: 600_000}, async () => {
  const {trained, lines} = await setup.train(
    'import os, sys\nprint("flexrack_instrumentation" in sys.modules, os.environ.get("FLEXRACK_PROGRESS"), os.environ.get("PYTHONPATH"))',
    {spec: {watch: false}},
  )
  expect(textOf(lines, 0)).toEqual([`False None ${process.env.PYTHONPATH ?? 'None'}`])
  expect(trained).toMatchObject({status: 'finished', pace: null})
})

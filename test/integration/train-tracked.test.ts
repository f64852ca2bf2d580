import {createHash} from 'node:crypto'
import {appendFile, chmod, cp, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {hostname, tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {shownRunText} from '../../src/cli/runs/text.ts'
import {makeContext, Secret} from '../../src/lib/base/index.ts'
import {DataStore} from '../../src/lib/data/index.ts'
import {openEndpoints} from '../../src/lib/endpoint/index.ts'
import {compareWith, planReproduction, why} from '../../src/lib/lineage/index.ts'
import {connectHead, startHead, stopHead} from '../../src/lib/head/index.ts'
import {openRuns, type RunsPlace} from '../../src/lib/runs/index.ts'
import {runPlan} from '../../src/lib/train/index.ts'
import {openMlflow, type Mlflow} from '../../src/lib/tracking/index.ts'
import {trainBench} from '../support/bench.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

const TEMPLATE = fileURLToPath(new URL('../../templates/pytorch-ddp', import.meta.url))
/**
 * In place of the template's data and its export: scikit-learn and torch.onnx take as long to import as PyTorch, in each
 * of the ranks. test/e2e/quickstart.test.ts has the template whole, to a prediction.
 */
const DATA = `import numpy, torch
from torch.utils.data import TensorDataset
def load():
    random = numpy.random.default_rng(0)
    digits = random.random((10, 1, 8, 8))
    def some(count):
        labels = random.integers(0, 10, count)
        images = (digits[labels] + random.normal(0, 0.2, (count, 1, 8, 8))).astype(numpy.float32)
        return TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
    return some(1437), some(360)
`
const EXPORT = 'export(network.module, OUTPUTS / "model.onnx")'
let setup: TrainRack
let requirements: string

beforeAll(async () => {
  setup = await startTrainRack(2)
  await writeFile(join(setup.folder, 'data.py'), DATA)
  await cp(join(TEMPLATE, 'model.py'), join(setup.folder, 'model.py'))
  requirements = await readFile(join(TEMPLATE, 'requirements.txt'), 'utf8')
  await startHead(setup.rack.rack, setup.rack.fleet(), context())
}, 900_000)
afterAll(() => setup?.stop())

const context = () => makeContext({env: setup.rack.env})
const place = async (): Promise<RunsPlace> => ({
  rack: setup.rack.rack,
  fleet: setup.rack.fleet(),
  manifest: await setup.manifest(),
})
async function mlflow(): Promise<Mlflow> {
  const head = await connectHead(setup.rack.rack, setup.rack.fleet(), context())
  return openMlflow({uri: head.uri, token: head.token})
}

test(
  'a data-parallel run survives the death of a rank, resumes, and its record says everything',
  {timeout: 900_000},
  async () => {
    const template = await readFile(join(TEMPLATE, 'train.py'), 'utf8')
    expect(template).toContain(EXPORT)
    // The first attempt does not get to its end before somebody has killed it.
    const script = template.replace(
      EXPORT,
      'while os.environ["FLEXRACK_ATTEMPT"] == "1": __import__("time").sleep(0.05)\n        (OUTPUTS / "model.onnx").write_bytes(b"what was learned")',
    )
    let killing: Promise<void> | undefined
    const {trained, lines} = await setup.train(script, {
      requirements,
      spec: {
        launcher: 'torchrun',
        restarts: 1,
        outputs: ['model.onnx', 'checkpoints/'],
        command: ['train.py', '--epochs', '8'],
      },
      choice: {tracking: true},
      onLines: (seen, run) => {
        if (!killing && seen.some((line) => line.text.startsWith('epoch 2/'))) killing = killRank(run, 1)
      },
    })
    await killing
    expect(trained).toMatchObject({
      status: 'finished',
      worldSize: 2,
      attempts: 2,
      recorded: true,
      left: {'node-1': [], 'node-2': []},
    })
    expect(lines.some((line) => line.attempt === 2 && /^resumed after epoch \d+$/.test(line.text))).toBe(true)
    expect(trained.outputs).toEqual(['checkpoints/last.pt', 'model.onnx'])
    expect(trained.metrics.find((metric) => metric.key === 'test_accuracy')?.value).toBeGreaterThan(0.9)

    const client = await mlflow()
    const record = await client.getRun(trained.trackedId as string)
    expect(record).toMatchObject({name: trained.run, status: 'FINISHED', params: {epochs: '8', world_size: '2'}})
    expect(record.tags).toMatchObject({
      'flexrack.run': trained.run,
      'flexrack.exit': '0',
      'flexrack.attempts': '2',
      'flexrack.command': 'train.py --epochs 8',
      'flexrack.nodes': 'node-1,node-2',
      'flexrack.world_size': '2',
    })
    expect(record.tags['flexrack.environment']).toMatch(/^[0-9a-f]{16}$/)
    const artifacts = (await client.walkArtifacts(record.id)).map((one) => one.path)
    expect(artifacts).toEqual(
      expect.arrayContaining([
        'model.onnx',
        'checkpoints/last.pt',
        'logs/attempt-1/rank-0.log',
        'logs/attempt-2/rank-0.log',
      ]),
    )
    expect(
      (await client.metricHistory(record.id, 'test_accuracy'))
        .map((one) => one.step)
        .toSorted((a, b) => a - b)
        .at(-1),
    ).toBe(7)

    const spec = JSON.parse(await readFile(join(await runFolder(trained.run), 'spec.json'), 'utf8')) as {
      tracking: {token: string; upstream: string}
    }
    const withRunToken = openMlflow({uri: client.uri, token: new Secret(spec.tracking.token)})
    await expect(withRunToken.getRun(record.id)).rejects.toMatchObject({code: 'REFUSED'})
    expect(await setup.alive(trained.run)).toEqual([])
  },
)

test("a run's data sets are inputs of its record; the record holds what it is from, and makes it again", async () => {
  await writeFile(
    join(setup.folder, 'flexrack.yaml'),
    'name: proj\ntrain: {command: train.py, launcher: plain, nodes: 2, outputs: [out.txt]}\n',
  )
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-set-'))
  await writeFile(join(folder, 'x.txt'), 'seven')
  const added = await new DataStore(context()).add(folder, 'seven')
  const {trained, lines} = await setup.train(
    'import os\nprint(open(os.environ["FLEXRACK_DATA"] + "/seven/x.txt").read())\nopen("out.txt", "w").write("7")\n',
    {data: ['seven'], choice: {tracking: true}, spec: {outputs: ['out.txt']}},
  )
  for (const rank of [0, 1]) expect(textOf(lines, rank)).toEqual(['seven'])
  const {uri, token} = await connectHead(setup.rack.rack, setup.rack.fleet(), context())
  const answer = await fetch(`${uri}/api/2.0/mlflow/runs/get?run_id=${trained.trackedId}`, {
    headers: {authorization: `Bearer ${token.reveal()}`},
  })
  const {run} = (await answer.json()) as {
    run: {inputs: {dataset_inputs: {dataset: {name: string; digest: string; source: string}}[]}}
  }
  expect(
    run.inputs.dataset_inputs.map(({dataset}) => [dataset.name, dataset.digest, JSON.parse(dataset.source)]),
  ).toEqual([['seven', added.digest.slice(0, 32), {digest: added.digest, from: `${hostname()}:${folder}`}]])

  const client = await mlflow()
  const record = await client.getRun(trained.trackedId as string)
  const text = await readFile(join(await runFolder(trained.run), 'record.json'))
  expect(record.tags['flexrack.record']).toBe(createHash('sha256').update(text).digest('hex'))
  const kept = join(folder, 'record.json')
  await client.downloadArtifact(record.id, 'lineage/record.json', kept)
  expect(await readFile(kept)).toEqual(text)
  expect(JSON.parse(text.toString())).toMatchObject({
    run: trained.run,
    status: 'finished',
    tracked: record.id,
    data: [{name: 'seven', digest: added.digest}],
    nodes: [{node: 'node-1'}, {node: 'node-2'}],
    code: {left_out: []},
    outputs: [{path: 'out.txt', sha256: createHash('sha256').update('7').digest('hex'), bytes: 1}],
  })

  const head = await connectHead(setup.rack.rack, setup.rack.fleet(), context())
  const endpoints = await openEndpoints(await place(), context(), {looks: true})
  const evidence = {rack: setup.rack.rack, fleet: setup.rack.fleet(), mlflow: client, endpoints}
  const whole = await why(`run/${trained.run}`, true, evidence, context())
  expect(whole.broken).toBeNull()
  expect(whole.tree.from.map((one) => one.kind)).toEqual(['code', 'environment', 'data'])

  await writeFile(join(setup.folder, 'train.py'), 'raise SystemExit("the project has changed since")\n')
  const again = await planReproduction(trained.run, evidence, {on: undefined}, context())
  expect(again.differences).toEqual([])
  expect(again.place.manifest).toMatchObject({name: expect.stringMatching(/^proj-again-/) as string})
  const made = await runPlan(again.train, again.place, {detach: false, onLines: () => {}, onNews: () => {}}, context())
  const compared = await compareWith(again, made.trackedId as string, {tolerance: 0, metrics: undefined}, client)
  expect(compared).toMatchObject({verdict: 'equal', outputs: [{path: 'out.txt', verdict: 'equal'}], packages: []})
  await rm(again.folder, {recursive: true})

  await writeFile(kept, text.toString().replace('"user":"', '"user":"not-'))
  await client.uploadArtifact(record.id, 'lineage/record.json', kept)
  expect((await why(trained.run, false, evidence, context())).broken?.why).toMatch(/one was changed/)
  await writeFile(kept, text)
  await client.uploadArtifact(record.id, 'lineage/record.json', kept)
  const blob = new DataStore(context()).blob(createHash('sha256').update('seven').digest('hex'))
  await chmod(blob, 0o600)
  await writeFile(blob, 'eight')
  expect((await why(trained.run, true, evidence, context())).broken).toEqual({
    arrow: expect.stringMatching(/-> data seven@/) as string,
    why: 'x.txt of it is another one on this machine',
  })
  await Promise.all([endpoints.close(), head.close(), rm(folder, {recursive: true})])
})

// ResNet-50 on two nodes: train-bench.long.test.ts.
test(
  'the benchmark records what it measured: parameters, metrics, every window, and bench.json',
  {timeout: 600_000},
  async () => {
    const {bench, lines} = await trainBench(setup, requirements, await mlflow(), {
      spec: {launcher: 'plain', nodes: 1},
      words: ['--model', 'gpt', '--windows', '2', '--steps', '1'],
      params: {model: 'gpt', size: 'small', batch: '2', length: '128', world_size: '1', nodes: '1', device: 'cpu'},
    })
    expect(bench).toMatchObject({parameters: 3_749_376, nodes: 1, unit: 'tokens'})
    expect(bench.loss.last).toBeLessThan(bench.loss.first - 0.3)
    expect(textOf(lines, 0)[0]).toMatch(
      /^gpt, 3,749,376 parameters, (fp32|bf16), batch 2 of 128 tokens a rank, 1 rank, cpu$/,
    )
  },
)

test(
  'torchrun ranks are numbered as planned, and one that exits with 17 is the first cause among their consequences',
  {timeout: 600_000},
  async () => {
    // The agents are torchrun's own; the ranks add up what each has, and each ends when it loses another one, as
    // those of gloo do, without a PyTorch of theirs.
    const script = `import os, select, socket, sys, time
rank, meet = int(os.environ["RANK"]), os.environ["MEET"]
if rank == 0:
    server = socket.create_server(("127.0.0.1", 0))
    with open(meet + ".part", "w") as file: file.write(str(server.getsockname()[1]))
    os.replace(meet + ".part", meet)
    others = [server.accept()[0] for _ in range(3)]
    total = 1 + sum(int(one.recv(9)) for one in others)
else:
    while not os.path.exists(meet): time.sleep(0.05)
    others = [socket.create_connection(("127.0.0.1", int(open(meet).read())))]
    others[0].sendall(b"%d" % (rank + 1))
    total = int(others[0].recv(9))
def tell(words):
    for one in others: one.sendall(words)
if rank == 0: tell(b"%d" % total)
print("sum", total, "rank", rank, os.environ["FLEXRACK_NODE"], os.environ["LOCAL_RANK"], flush=True)
if rank != 0: tell(b".")
for one in others: one.recv(1)  # all have said it
if rank == 0: tell(b".")
if rank == 2: os._exit(17)
select.select(others, [], [])
sys.exit("another rank is gone")
`
    const {trained, lines} = await setup.train(script, {
      requirements,
      spec: {launcher: 'torchrun', processesPerNode: 2, env: {MEET: join(setup.folder, '..', `${Date.now()}.meet`)}},
      choice: {tracking: true},
    })
    expect([0, 1, 2, 3].map((rank) => textOf(lines, rank)[0])).toEqual(
      [0, 1, 2, 3].map((rank) => `sum 10 rank ${rank} node-${rank < 2 ? 1 : 2} ${rank % 2}`),
    )
    expect(trained).toMatchObject({status: 'failed', cause: {kind: 'rank', rank: 2, node: 'node-2', exit: 17}})
    expect(trained.cause?.others.length).toBeGreaterThan(0)
    const record = await (await mlflow()).getRun(trained.trackedId as string)
    expect(record.status).toBe('FAILED')
    expect(record.tags['flexrack.cause']).toContain('rank 2 on node-2 ended with 17')
    expect(await setup.alive(trained.run)).toEqual([])
  },
)

test(
  'a head that goes away in mid-run neither stops the run nor loses what it logs; the next command completes the record',
  {timeout: 600_000},
  async () => {
    const script = `import json, os, time, urllib.request
def post(path, value):
    request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/" + path, json.dumps({"run_id": os.environ["MLFLOW_RUN_ID"], **value}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]}, method="POST")
    urllib.request.urlopen(request).read()
for step in range(60):
    if os.environ["RANK"] == "0": post("runs/log-metric", {"key": "loss", "value": 1 / (step + 1), "timestamp": int(time.time() * 1000), "step": step})
    print("step", step, flush=True)
    if step == 20:
        while not os.path.exists(os.environ["GO"]): time.sleep(0.05)
`
    const go = join(setup.folder, '..', `${Date.now()}.go`)
    let stopping: Promise<void> | undefined
    const {trained, news} = await setup.train(script, {
      spec: {env: {GO: go}, outputs: ['train.py']},
      choice: {tracking: true},
      onLines: (seen) => {
        if (!stopping && textOf(seen, 0).includes('step 20'))
          stopping = stopHead(setup.rack.rack, setup.rack.fleet(), context()).then(() => writeGo(go))
      },
    })
    await stopping
    expect(trained).toMatchObject({status: 'finished', recorded: false})
    expect(news.map((one) => one.event)).toContain('tracking.away')
    const runs = openRuns(await place(), context())
    expect((await runs.list({all: false, limit: 50})).runs.find((one) => one.run === trained.run)).toMatchObject({
      status: 'finished',
      recorded: false,
    })
    await startHead(setup.rack.rack, setup.rack.fleet(), context())
    const again = openRuns(await place(), context())
    expect((await again.list({all: false, limit: 50})).runs.find((one) => one.run === trained.run)).toMatchObject({
      status: 'finished',
      recorded: true,
    })
    const client = await mlflow()
    const record = await client.getRun(trained.trackedId as string)
    expect(record).toMatchObject({status: 'FINISHED', tags: {'flexrack.exit': '0'}})
    expect((await client.metricHistory(record.id, 'loss')).map((one) => one.step).toSorted((a, b) => a - b)).toEqual(
      Array.from({length: 60}, (_, step) => step),
    )
    expect((await client.walkArtifacts(record.id)).map((one) => one.path)).toContain('logs/attempt-1/rank-1.log')
    await again.close()
  },
)

test(
  'when everything of a run was killed, the next command ends its record as failed',
  {timeout: 600_000},
  async () => {
    const {trained} = await setup.train('import time\nprint("up", flush=True)\ntime.sleep(600)\n', {
      choice: {tracking: true},
      detach: true,
    })
    for (const node of ['node-1', 'node-2']) {
      const state = JSON.parse(await readFile(join(await runFolder(trained.run, node), 'state.json'), 'utf8')) as {
        pid: number
      }
      process.kill(state.pid, 'SIGKILL')
    }
    const runs = openRuns(await place(), context())
    const shown = await until(async () => {
      const one = await runs.show(trained.run)
      return one.status === 'failed' && one.recorded ? one : undefined
    })
    expect(shown.cause?.message).toContain('the supervisor was killed')
    await runs.close()
    expect(await (await mlflow()).getRun(trained.trackedId as string)).toMatchObject({
      status: 'FAILED',
      tags: {'flexrack.exit': '1'},
    })
    await until(async () => ((await setup.alive(trained.run)).length === 0 ? true : undefined))
  },
)

test('what the server refused of a run is named, and sent again by `runs repair`', {timeout: 300_000}, async () => {
  const {trained} = await setup.train('print("up")', {spec: {launcher: 'plain'}, choice: {tracking: true}})
  const spool = join(await runFolder(trained.run, 'node-2'), 'spool')
  const body = Buffer.from(JSON.stringify({run_id: trained.trackedId, key: 'late', value: 'but there'})).toString(
    'base64',
  )
  const entry = {method: 'POST', path: '/api/2.0/mlflow/runs/set-tag', type: 'application/json', at: 1, body}
  await appendFile(
    join(spool, 'rejected.jsonl'),
    `${JSON.stringify({at: 1, method: 'POST', path: entry.path, status: 403, answer: 'no right to', body: null, entry})}\n`,
    {mode: 0o600},
  )

  const runs = openRuns(await place(), context())
  const run = await runs.find(trained.run)
  const kept = {node: 'node-2', count: 1, writes: [{call: 'set-tag', status: 403, answer: 'no right to', at: 1}]}
  const shown = await runs.show(trained.run)
  expect(shown.unsent).toEqual([kept])
  expect(shownRunText(shown)).toContain(`send it again: flexrack runs repair ${trained.run}`)
  expect((await runs.planRepair(run)).steps).toMatchObject([{node: 'node-2', kind: 'run.repair'}])
  expect(await runs.repair(run)).toEqual({
    run: trained.run,
    nodes: [{node: 'node-2', sent: 1, pending: 0, count: 0, writes: []}],
  })
  expect((await (await mlflow()).getRun(trained.trackedId as string)).tags).toMatchObject({late: 'but there'})
  expect(await runs.repair(run)).toEqual({run: trained.run, nodes: []})
  await runs.close()
})

test(
  'the history of a metric is of the newest run where none is named, or where the only word is a metric of it',
  {timeout: 300_000},
  async () => {
    const {trained} = await setup.train('print("up")', {spec: {launcher: 'plain'}, choice: {tracking: true}})
    const metrics = ['loss', 'accuracy'].flatMap((key) =>
      [0, 1].map((step) => ({key, value: step / 4, timestamp: 1, step})),
    )
    await (await mlflow()).logBatch(trained.trackedId as string, {metrics})
    const runs = openRuns(await place(), context())
    expect(await runs.history(undefined, undefined)).toMatchObject({
      run: trained.run,
      metric: 'accuracy',
      values: [{value: 0}, {value: 0.25}],
    })
    expect(await runs.history('loss', undefined)).toMatchObject({
      run: trained.run,
      metric: 'loss',
      values: [{value: 0}, {value: 0.25}],
    })
    expect(await runs.history(trained.run, 'loss')).toMatchObject({run: trained.run, metric: 'loss'})
    await expect(runs.history('lost', undefined)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('there is no run lost'),
    })
    await runs.close()
  },
)

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function writeGo(file: string): Promise<void> {
  await cp(join(setup.folder, 'train.py'), file)
}

/** SIGKILL, as the kernel does it when memory runs out. */
async function killRank(run: string, rank: number): Promise<void> {
  const runs = openRuns(await place(), context())
  const {ranks} = await runs.show(run)
  process.kill(ranks.find((one) => one.rank === rank)?.pid as number, 'SIGKILL')
  await runs.close()
}

async function runFolder(run: string, node = 'node-1'): Promise<string> {
  const runs = openRuns(await place(), context())
  const {folders} = await runs.show(run)
  await runs.close()
  return folders[node] as string
}

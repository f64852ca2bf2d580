import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import type {Manifest, TrainSpec} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {followRun, openRuns, stopRun, type RankLine, type Runs, type RunNews} from '../../src/lib/runs/index.ts'
import {checkProject} from '../../src/lib/project/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, SLURM, type Trained, type TrainChoice} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {openBucket} from '../support/rclone.ts'
import {startSlurm, type TestSlurm} from '../support/slurm.ts'
import {throughJson} from '../support/through-json.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

let slurm: TestSlurm
let sshd: TestSshd
let folder = ''
let rack: Rack
let fleet: Fleet
let context: Context
let runs: Runs
/** Slurm looks at time limits every 30 s, so this run ends beside the others. */
let limited: Trained

/** A rank that saves its state when it is asked to end; a second SIGTERM in the middle of that would be seen. */
const FOREVER = `import os, signal, subprocess, sys, time
subprocess.Popen(["setsid", "sleep", "600"])
signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), time.sleep(0.7), sys.exit(0)))
print("up", flush=True)
while True: time.sleep(0.05)
`

beforeAll(async () => {
  slurm = await startSlurm(3)
  sshd = await startSshd({env: slurm.env})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-train-slurm-'))
  await mkdir(join(folder, 'project'))
  const login = {
    ...sshd.target('login'),
    root: `${sshd.home}/.flexrack`,
    environments: await sharedEnvironments(),
    labels: {},
  }
  rack = {
    name: 'cluster',
    path: join(folder, 'cluster.yaml'),
    nodes: [login],
    head: {node: 'login', bind: '127.0.0.1'},
    slurm: {login: 'login', extra: []},
  }
  context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
  fleet = openFleet(rack.nodes, context)
  runs = openRuns({rack, fleet}, context)
  limited = await startLimited()
})
afterAll(async () => {
  await fleet?.close()
  await slurm?.stop()
  await sshd?.stop()
  if (folder !== '') await rm(folder, {recursive: true, force: true})
})

interface Seen {
  trained: Trained
  lines: RankLine[]
  news: RunNews[]
}

async function train(
  script: string,
  spec: Partial<TrainSpec> = {},
  parts: {choice?: Partial<TrainChoice>; detach?: boolean; volumes?: Manifest['volumes']} = {},
): Promise<Seen> {
  await writeFile(join(folder, 'project/train.py'), script)
  const manifest: Manifest = {
    path: join(folder, 'project/flexrack.yaml'),
    folder: join(folder, 'project'),
    name: 'proj',
    workspace: {exclude: [], forward: [], env: {}},
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 2,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
      ...spec,
    },
    tracking: {experiment: 'proj'},
    endpoints: {},
    ...(parts.volumes && {volumes: parts.volumes}),
  }
  const place = {manifest, rack, fleet}
  const seen: Omit<Seen, 'trained'> = {lines: [], news: []}
  const plan = await planTrain(place, {args: [], tracking: false, ...parts.choice}, context)
  const trained = await runPlan(
    {...plan, plan: throughJson(plan.plan)},
    place,
    {
      detach: parts.detach ?? false,
      onLines: (some) => seen.lines.push(...some),
      onNews: (one) => seen.news.push(one),
    },
    context,
  )
  return {trained, ...seen}
}

/** Pids of a run's ranks and of what they started, from /proc alone. */
async function alive(run: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const environment = /^\d+$/.test(name) ? await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '') : ''
    if (environment.split('\0').some((entry) => entry.startsWith(`FLEXRACK_TAG=${run}.`))) found.push(Number(name))
  }
  return found
}

async function startLimited(): Promise<Trained> {
  const {trained} = await train(
    FOREVER,
    {nodes: 1, slurm: {exclusive: false, extra: [], time: '10:00'}},
    {detach: true},
  )
  await slurm.until(isUp(trained.run, 1))
  await slurm.slurm('scontrol', 'update', `JobId=${trained.slurm?.job}`, 'EndTime=now+1seconds')
  return trained
}

const isUp = (run: string, ranks: number) => async (): Promise<boolean> => {
  const lines: RankLine[] = []
  await followRun(runs.place, await runs.find(run), {follow: false, onLines: (some) => lines.push(...some)}, context)
  return lines.filter((line) => line.text === 'up').length === ranks
}

test('a run of two nodes: ranks, lines with their nodes, outputs, and what Slurm says of it', async () => {
  const script = `import os
print(os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["FLEXRACK_NODE"], os.environ["SLURMD_NODENAME"], os.environ["OMP_NUM_THREADS"] != "")
open(os.path.join(os.environ["FLEXRACK_OUTPUTS"], "model.txt"), "w").write("weights")
`
  const {trained, lines, news} = await train(script, {outputs: ['model.txt']})
  expect(trained).toMatchObject({
    status: 'finished',
    exit: 0,
    worldSize: 2,
    nodes: ['c1', 'c2'],
    cause: null,
    outputs: ['model.txt'],
    left: {c1: [], c2: []},
    slurm: {state: 'COMPLETED', source: 'squeue'},
  })
  expect(lines.map(({node, rank, text}) => ({node, rank, text})).toSorted((a, b) => a.rank - b.rank)).toEqual([
    {node: 'c1', rank: 0, text: '0 2 c1 c1 True'},
    {node: 'c2', rank: 1, text: '1 2 c2 c2 True'},
  ])
  expect(news.filter((one) => one.event === 'slurm').at(-1)).toMatchObject({job: trained.slurm?.job})
  const shown = await runs.show(trained.run)
  expect(shown).toMatchObject({
    status: 'finished',
    nodes: ['c1', 'c2'],
    worldSize: 2,
    slurm: {job: trained.slurm?.job, state: 'COMPLETED'},
  })
  expect(shown.ranks.map(({node, exit}) => [node, exit])).toEqual([
    ['c1', 0],
    ['c2', 0],
  ])
  const script_ = await readFile(join(shown.folders.login as string, 'job.sh'), 'utf8')
  const spec = JSON.parse(await readFile(join(shown.folders.login as string, 'spec.json'), 'utf8')) as {
    gang: {secret: string}
  }
  expect(script_).not.toContain(spec.gang.secret)
})

test('a rank that fails ends the run, which starts again within the job, and is the cause', async () => {
  const {trained, news} = await train(
    'import os, time\nif os.environ["RANK"] == "1": print("no such digit"); raise SystemExit(17)\ntime.sleep(600)\n',
    {restarts: 1},
  )
  expect(trained).toMatchObject({
    status: 'failed',
    attempts: 2,
    cause: {kind: 'rank', rank: 1, node: 'c2', exit: 17},
    slurm: {state: 'FAILED'},
  })
  expect(trained.cause?.lines.at(-1)).toBe('no such digit')
  expect(news.map((one) => one.event)).toContain('restarting')
  expect(await alive(trained.run)).toEqual([])
})

test('a job has its inputs once, its volumes on each node, and has finished when what all nodes left is in the bucket', async () => {
  const [before, asked, bucket] = [rack, context, await openBucket(folder, {'set/x.txt': 'seven'}, context)]
  try {
    context = bucket.context
    rack = {
      ...rack,
      volumes: {
        bucket: {path: join(folder, 's3/bucket'), kind: 'shared'},
        gone: {path: join(folder, 'gone'), kind: 'local'},
      },
    }
    const script =
      'import os\ne = os.environ\nprint(open(e["FLEXRACK_INPUTS"] + "/set/x.txt").read(), e["FLEXRACK_INPUTS"], e["FLEXRACK_VOLUME_BUCKET"])\nopen(e["FLEXRACK_OUTPUTS"] + "/" + e["RANK"], "w").write("x")\n'
    const {trained, lines} = await train(
      script,
      {inputs: {set: 'store:bucket/set'}, uploads: [{to: 'store:bucket/runs', files: []}]},
      {volumes: [{name: 'bucket', write: true}]},
    )
    expect([trained.status, new Set(lines.map(({text}) => text)).size], JSON.stringify(trained.cause)).toEqual([
      'finished',
      1,
    ])
    expect((await readdir(join(folder, 's3/bucket/runs', trained.run))).sort()).toEqual(['0', '1'])
    expect(await readdir(join(sshd.home, '.flexrack/runs', trained.run))).not.toContain('rclone.conf')
    expect((await train(script, {}, {volumes: [{name: 'gone', write: false}]})).trained).toMatchObject({
      status: 'failed',
      cause: {message: expect.stringContaining('volume gone cannot be used')},
    })
  } finally {
    ;[rack, context] = [before, asked, await bucket.stop()]
  }
})

test('a script that is printed and submitted by hand is the same run; what Slurm refuses leaves nothing behind', async () => {
  await writeFile(join(folder, 'project/train.py'), 'print("by hand")\n')
  const manifest: Manifest = {
    path: join(folder, 'project/flexrack.yaml'),
    folder: join(folder, 'project'),
    name: 'proj',
    workspace: {exclude: [], forward: [], env: {}},
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 2,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {WORDS: "a 'b' $(c)\n`d`"},
      grace: 5,
    },
    tracking: {experiment: 'proj'},
    endpoints: {},
  }
  await train('print("by hand")\n') // what `workspace up` does: code and environment are there
  const plan = await planTrain({manifest, rack, fleet}, {args: [], tracking: false}, context)
  const file = join(folder, 'job.sh')
  await writeFile(file, SLURM.handScript(plan))
  await slurm.slurm('sbatch', `--output=${folder}/by-hand.log`, file)
  const run = await slurm.until(() => runs.find(plan.spec.run))
  // Which two: of the job before one may still have to be tidied up.
  const two = [expect.stringMatching(/^c\d$/), expect.stringMatching(/^c\d$/)]
  expect(await runs.wait(run, 60)).toMatchObject({status: 'finished', nodes: two})

  await expect(
    train('print(1)', {nodes: 3, slurm: {exclusive: false, extra: ['--gres=tpu:1']}}, {detach: true}),
  ).rejects.toMatchObject({code: 'REFUSED', message: expect.stringContaining('Slurm refuses the job')})
  expect(
    (await runs.list({all: true, limit: 20})).runs.filter((one) => one.worldSize === 3 && one.status !== 'stopped'),
  ).toEqual([])
})

test('what Slurm ends by itself is told apart: time limit, a node that fails, scancel by somebody else', async () => {
  const both = await Promise.all(
    [1, 2].map(
      async () =>
        (await train(FOREVER, {nodes: 1, slurm: {exclusive: true, extra: [], time: '10:00'}}, {detach: true})).trained,
    ),
  )
  const [failing, cancelled] = both as [Trained, Trained]
  for (const one of both) await slurm.until(isUp(one.run, 1))
  const job = (one: Trained): string => one.slurm?.job as string
  const started = [limited, failing, cancelled]
  const node = (await slurm.slurm('squeue', '--noheader', `--jobs=${job(failing)}`, '--format=%N')).trim()
  await slurm.slurm('scontrol', 'update', `NodeName=${node}`, 'State=DOWN', 'Reason=test')
  await slurm.slurm('scancel', job(cancelled))
  const ends = await Promise.all(started.map(async (one) => runs.wait(await runs.find(one.run), 90)))
  expect(ends.map((one) => [one.status, one.result?.slurm?.state, one.cause?.kind, one.alive])).toEqual([
    ['failed', 'TIMEOUT', 'slurm', []],
    ['failed', 'NODE_FAIL', 'slurm', []],
    ['stopped', 'CANCELLED', 'slurm', []],
  ])
  expect(ends.map((one) => one.cause?.message)).toEqual([
    `Slurm ended job ${job(limited)}: its time limit was reached (TIMEOUT)`,
    `Slurm ended job ${job(failing)}: one of its nodes failed (NODE_FAIL)`,
    `job ${job(cancelled)} was cancelled in Slurm (CANCELLED)`,
  ])
  expect((await Promise.all(started.map((one) => alive(one.run)))).flat()).toEqual([])
})

test('a full partition: the next run waits and says why; stopped, it never begins; the running one saves its state', async () => {
  const {trained: first} = await train(
    FOREVER,
    {nodes: 3, slurm: {exclusive: true, extra: [], time: '10:00'}},
    {detach: true},
  )
  await slurm.until(isUp(first.run, 3))
  const {trained: second} = await train('print("never")', {nodes: 1}, {detach: true})
  expect(second).toMatchObject({status: 'running', slurm: {state: 'PENDING'}})
  const waiting = await slurm.until(async () => {
    const one = (await runs.list({all: true, limit: 9})).runs.find(({run}) => run === second.run)
    return one?.slurm?.reason === 'Resources' && one.slurm.start !== null && one
  })
  expect(waiting).toMatchObject({status: 'waiting', worldSize: 1, ended: null})
  expect(await stopRun(runs.place, await runs.find(second.run), {}, context)).toEqual({
    run: second.run,
    status: 'stopped',
    left: {},
    unreached: [],
  })

  const stopped = await stopRun(runs.place, await runs.find(first.run), {}, context)
  expect(stopped).toEqual({run: first.run, status: 'stopped', left: {c1: [], c2: [], c3: []}, unreached: []})
  expect(await alive(first.run)).toEqual([])
  const lines: RankLine[] = []
  await followRun(
    runs.place,
    await runs.find(first.run),
    {follow: true, onLines: (some) => lines.push(...some)},
    context,
  )
  expect(
    lines
      .filter((line) => line.text === 'saved')
      .map((line) => line.node)
      .toSorted(),
  ).toEqual(['c1', 'c2', 'c3'])
  expect(await runs.show(first.run)).toMatchObject({status: 'stopped', cause: null, slurm: {state: 'CANCELLED'}})
})

test('stacks of a job: of all ranks on all nodes, of one rank, and why there are none where the job waits, or is over', async () => {
  const script = `import threading, time
def walks():
    while True: time.sleep(0.05)
threading.Thread(target=walks, daemon=True).start()
def stands():
    print("up", flush=True)
    threading.Event().wait()
stands()
`
  const {trained} = await train(script, {nodes: 3, slurm: {exclusive: true, extra: [], time: '10:00'}}, {detach: true})
  await slurm.until(isUp(trained.run, 3))
  const run = await runs.find(trained.run)
  const all = await runs.stacks(run, undefined)
  expect(all).toMatchObject({run: trained.run, attempt: 1, failed: []})
  expect(all.ranks.map(({rank, node, source}) => [rank, node, source])).toEqual([
    [0, 'c1', 'faulthandler'],
    [1, 'c2', 'faulthandler'],
    [2, 'c3', 'faulthandler'],
  ])
  expect(all.ranks.every((one) => one.threads.length === 2)).toBe(true)
  expect(all.groups.map((group) => group.ranks)).toEqual([[0, 1, 2]])
  expect(all.groups[0]?.frames.map((frame) => frame.function)).toContain('stands')
  expect(all.groups[0]?.frames.at(-1)).toMatchObject({file: 'train.py', function: '<module>'})
  // Two at the same time get an answer each, to their own question.
  const [one, again] = await Promise.all([runs.stacks(run, 2), runs.stacks(run, undefined)])
  expect(one.ranks.map(({rank, node}) => [rank, node])).toEqual([[2, 'c3']])
  expect(again.ranks.map(({rank}) => rank)).toEqual([0, 1, 2])
  await expect(runs.stacks(run, 7)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: `no rank 7 of ${trained.run} is alive`,
  })

  const {trained: waiting} = await train('print("never")', {nodes: 1}, {detach: true})
  await expect(runs.stacks(await runs.find(waiting.run), undefined)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(/^login: job \d+ of .* waits in Slurm.*: no rank of it runs yet$/),
  })
  await slurm.slurm('scontrol', 'suspend', trained.slurm?.job as string)
  await expect(runs.stacks(run, undefined)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('is suspended in Slurm'),
  })
  await slurm.slurm('scontrol', 'resume', trained.slurm?.job as string)
  await stopRun(runs.place, await runs.find(waiting.run), {}, context)
  await stopRun(runs.place, run, {kill: true}, context)
  await expect(runs.stacks(run, undefined)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: `login: ${trained.run} is over (stopped): no rank of it is alive`,
  })
})

test('Open MPI inside a job: daemons are started by our supervisors, ranks are where Slurm put their nodes, and a failing one is the cause', async () => {
  const reported =
    'import os\nprint(os.environ["RANK"], os.environ["OMPI_COMM_WORLD_RANK"], os.environ["WORLD_SIZE"], os.environ["SLURMD_NODENAME"])\n'
  const {trained, lines} = await train(reported, {launcher: 'mpi', processesPerNode: 2})
  expect(trained).toMatchObject({status: 'finished', worldSize: 4, left: {c1: [], c2: []}, slurm: {state: 'COMPLETED'}})
  expect(lines.map((line) => line.text).toSorted()).toEqual(['0 0 4 c1', '1 1 4 c1', '2 2 4 c2', '3 3 4 c2'])
  const {trained: failed} = await train(
    `${reported}import time\nif os.environ["RANK"] == "3": raise SystemExit(17)\ntime.sleep(600)\n`,
    {launcher: 'mpi', processesPerNode: 2},
  )
  expect(failed).toMatchObject({
    status: 'failed',
    cause: {kind: 'rank', rank: 3, node: 'c2', exit: 17},
    slurm: {state: 'FAILED'},
  })
  expect(await alive(failed.run)).toEqual([])
})

test('Open MPI inside a job that Slurm cancels: every rank has the time to save its state', async () => {
  const saves = `import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1.5), print("saved", flush=True), sys.exit(0)))
print("up", flush=True)
while True: time.sleep(0.05)
`
  const {trained} = await train(saves, {launcher: 'mpi', processesPerNode: 2}, {detach: true})
  await slurm.until(isUp(trained.run, 4))
  await slurm.slurm('scancel', trained.slurm?.job as string)
  const end = await runs.wait(await runs.find(trained.run), 60)
  const lines: RankLine[] = []
  await followRun(
    runs.place,
    await runs.find(trained.run),
    {follow: false, onLines: (some) => lines.push(...some)},
    context,
  )
  expect(
    lines
      .filter((line) => line.text === 'saved')
      .map((line) => line.rank)
      .toSorted(),
  ).toEqual([0, 1, 2, 3])
  expect([end.status, end.result?.slurm?.state, await alive(trained.run)]).toEqual(['stopped', 'CANCELLED', []])
})

test('a container is refused before anything is done where Slurm has no pyxis', async () => {
  const slurm = {exclusive: false, extra: [], container: {image: 'ubuntu', mounts: []}}
  await expect(train('print(1)', {slurm})).rejects.toMatchObject({
    code: 'NODE_UNFIT',
    message: expect.stringContaining('train.slurm.container needs pyxis'),
  })
})

test('check holds the manifest against the partition, and finds nothing where a job of its size may run', async () => {
  const home = join(folder, 'check')
  await mkdir(home, {recursive: true})
  await writeFile(join(home, 'train.py'), '')
  const file = join(home, 'rack.yaml')
  const {host, port, user, identityFile} = rack.nodes[0] as unknown as Record<string, string>
  await writeFile(
    file,
    JSON.stringify({
      nodes: [
        {
          name: 'login',
          host,
          port,
          user,
          identity_file: identityFile,
          root: rack.nodes[0]?.root,
          environments: rack.nodes[0]?.environments,
        },
      ],
      slurm: {login: 'login'},
    }),
  )
  const check = async (train: object): Promise<string[]> => {
    await writeFile(
      join(home, 'flexrack.yaml'),
      JSON.stringify({name: 'proj', rack: file, train: {command: 'train.py', launcher: 'plain', ...train}}),
    )
    const {findings} = await checkProject(
      {project: home, offline: false, openFleet: () => Promise.resolve(openFleet(rack.nodes, context))},
      context,
    )
    return findings.filter((one) => one.about === 'slurm').map((one) => one.message)
  }
  expect(await check({nodes: 2, slurm: {time: '1h'}})).toEqual([])
  await slurm.slurm('scontrol', 'update', 'PartitionName=main', 'MaxTime=30:00')
  try {
    expect(await check({nodes: 4, slurm: {time: '1h', cpus: 3}})).toEqual([
      'train.nodes is 4, and a job in partition main gets 3 at most',
      'train.slurm.time is 1:00:00, and a job in partition main may take 0:30:00 at most',
      'a node needs 3 CPUs for this run, and the largest of partition main has 2',
    ])
    expect(await check({slurm: {partition: 'mian', container: {image: 'ubuntu'}}})).toEqual([
      'train.slurm.container needs pyxis, which this Slurm does not have',
      'Slurm has no partition mian; did you mean main?',
    ])
  } finally {
    await slurm.slurm('scontrol', 'update', 'PartitionName=main', 'MaxTime=UNLIMITED')
  }
})

import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {startHead, stopHead} from '../../src/lib/head/index.ts'
import {loadManifest} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openRuns, stopRun, type RankLine, type RunEntry, type RunNews, type Runs} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type Trained, type TrainPlan} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSlurm, type TestSlurm} from '../support/slurm.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

/**
 * Jobs of `urgent` take the nodes of those of the others, which go back into the queue, or end (slurm.conf(5),
 * PreemptMode).
 */
const PREEMPTION = {
  lines: ['PreemptType=preempt/partition_prio', 'PreemptMode=REQUEUE'],
  partitions: [
    'PartitionName=main PriorityTier=1',
    'PartitionName=cheap PriorityTier=1 PreemptMode=CANCEL',
    'PartitionName=notice PriorityTier=1 GraceTime=15',
    'PartitionName=lastnotice PriorityTier=1 GraceTime=15 PreemptMode=CANCEL',
    'PartitionName=urgent PriorityTier=10 PreemptMode=OFF',
  ],
  credentials: 10,
}
const TAKEN = 'a job that comes first took its place'

/**
 * Trains until it is asked to end, the first time; from a checkpoint on, and where it is told so, it comes to its end.
 */
const SCRIPT = `import json, os, signal, sys, time, urllib.request
rank, out, came, attempt = os.environ["RANK"], os.environ["FLEXRACK_OUTPUTS"], os.environ.get("FLEXRACK_CHECKPOINT"), int(os.environ["FLEXRACK_ATTEMPT"])
def log(step):
    if rank == "0" and "MLFLOW_TRACKING_URI" in os.environ:
        body = {"run_id": os.environ["MLFLOW_RUN_ID"], "run_uuid": os.environ["MLFLOW_RUN_ID"], "key": "step", "value": step, "timestamp": int(time.time() * 1000), "step": step}
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]}
        urllib.request.urlopen(urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/runs/log-metric", json.dumps(body).encode(), headers)).read()
def save(step):
    if rank == "0":
        os.makedirs(out + "/checkpoints", exist_ok=True)
        open(out + "/checkpoints/.tmp", "w").write(str(step))
        os.replace(out + "/checkpoints/.tmp", out + f"/checkpoints/step-{step}")
def end(*_):
    print("asked to end", flush=True)
    os._exit(3)  # Slurm's SIGTERM comes twice
signal.signal(signal.SIGTERM, end)
step = int(open(came).read()) if came else 0
print("up", attempt, "from", step, flush=True)
if attempt >= int(os.environ["LAST"]):
    log(step + 1)
    open(out + "/model.txt", "w").write(f"weights after {step + 1}")
    sys.exit(0)
while True:
    step += 1
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # both, or neither
    save(step)
    log(step)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    if step == 3: print("three", flush=True)
    time.sleep(0.2)
`

let slurm: TestSlurm
let sshd: TestSshd
let folder = ''
let rack: Rack
let fleet: Fleet
let context: Context
let runs: Runs

beforeAll(async () => {
  slurm = await startSlurm(2, PREEMPTION)
  sshd = await startSshd({env: slurm.env})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-requeue-'))
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
  await startHead(rack, fleet, context)
}, 900_000)
afterAll(async () => {
  await runs?.close()
  if (fleet) await stopHead(rack, fleet, context).catch(() => {})
  await fleet?.close()
  await slurm?.stop()
  await sshd?.stop()
  if (folder !== '') await rm(folder, {recursive: true, force: true})
})

afterEach(async () => {
  await slurm?.slurm('scancel', '--me') // one that failed must not keep the nodes from the next
})

interface Going {
  run: string
  lines: RankLine[]
  news: RunNews[]
  ended: Promise<Trained>
  /** Its lines so far, without the rank's node. */
  said(): string[]
}

/** Starts a training and attends it; resolves as soon as it is submitted. */
async function start(name: string, train: string, {tracking = false, last = 2} = {}): Promise<Going> {
  const home = join(folder, name)
  await mkdir(home, {recursive: true})
  await writeFile(
    join(home, 'flexrack.yaml'),
    `name: ${name}\ntrain: {command: train.py, launcher: plain, nodes: 2, grace: 5s, outputs: [model.txt], env: {LAST: ${last}}, ${train}}\n`,
  )
  await writeFile(join(home, 'train.py'), SCRIPT)
  const place = {manifest: await loadManifest(join(home, 'flexrack.yaml')), rack, fleet}
  const plan: TrainPlan = await planTrain(place, {args: [], tracking}, context)
  const lines: RankLine[] = []
  const news: RunNews[] = []
  const submitted = Promise.withResolvers<void>()
  const ended = runPlan(
    plan,
    place,
    {
      detach: false,
      onStart: () => submitted.resolve(),
      onLines: (some) => lines.push(...some),
      onNews: (one) => news.push(one),
    },
    context,
  )
  ended.catch(submitted.reject)
  await submitted.promise
  return {run: plan.spec.run, lines, news, ended, said: () => lines.map((line) => `${line.rank} ${line.text}`)}
}

const entryOf = async (run: string): Promise<RunEntry> =>
  (await runs.list({all: true, limit: 50})).runs.find((one) => one.run === run) as RunEntry
const jobOf = async (run: string): Promise<string> => (await entryOf(run)).slurm?.job as string

/** A job that comes first, on both nodes, until the returned function ends it. */
async function takeNodes(): Promise<() => Promise<string>> {
  const job = (
    await slurm.slurm(
      'sbatch',
      '--parsable',
      '--partition=urgent',
      '--exclusive',
      '--nodes=2',
      '--output=/dev/null',
      '--wrap=sleep 3600',
    )
  ).trim()
  return () => slurm.slurm('scancel', job)
}

async function alive(run: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const environment = /^\d+$/.test(name) ? await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '') : ''
    if (environment.split('\0').some((entry) => entry.startsWith(`FLEXRACK_TAG=${run}.`))) found.push(Number(name))
  }
  return found
}

const has =
  (going: Going, ...wanted: string[]) =>
  async (): Promise<boolean> =>
    wanted.every((one) => going.said().includes(one))

test(
  'a preempted job that Slurm requeues waits, starts again, and goes on from its checkpoint; the record stays open until the end',
  {timeout: 600_000},
  async () => {
    const going = await start('tracked', 'checkpoint: checkpoints/, slurm: {time: 10m}', {tracking: true})
    await slurm.until(has(going, '0 three', '1 three'))
    const release = await takeNodes()
    const waiting = await slurm.until(async () => {
      const one = await entryOf(going.run)
      return one.status === 'waiting' && one.slurm?.requeued?.why !== null && one
    })
    expect(waiting).toMatchObject({
      attempt: 1,
      ended: null,
      cause: null,
      recorded: null,
      slurm: {state: 'PENDING', requeued: {times: 1, why: TAKEN}},
    })
    expect(await alive(going.run)).toEqual([])
    const between = await runs.show(going.run)
    expect(between).toMatchObject({status: 'waiting', nodes: ['c1', 'c2'], slurm: {requeued: {times: 1}}})
    expect(between.ranks.map(({rank, exit}) => [rank, exit])).toEqual([
      [0, 3],
      [1, 3],
    ])
    await expect(runs.stacks(await runs.find(going.run), undefined)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('waits in Slurm'),
    })
    const {tracking} = await runs.records()
    expect((await tracking?.mlflow.getRun(waiting.trackedId as string))?.status).toBe('RUNNING')
    await release()

    const trained = await going.ended
    expect(trained).toMatchObject({
      status: 'finished',
      exit: 0,
      attempts: 2,
      cause: null,
      recorded: true,
      outputs: ['model.txt'],
      left: {c1: [], c2: []},
      slurm: {state: 'COMPLETED', requeued: {times: 1, why: TAKEN}},
    })
    const shown = await runs.show(going.run)
    expect(
      shown.attempts.map(({attempt, status, why, checkpoint}) => [attempt, status, why, checkpoint?.name]),
    ).toEqual([
      [1, 'stopped', 'start', undefined],
      [2, 'finished', `Slurm started the job again: ${TAKEN}`, expect.stringMatching(/^checkpoints\/step-\d+$/)],
    ])
    const from = Number(shown.attempts[1]?.checkpoint?.name.split('-')[1])
    expect(from).toBeGreaterThanOrEqual(3)
    expect(
      going
        .said()
        .filter((line) => line.includes('up'))
        .toSorted(),
    ).toEqual(['0 up 1 from 0', `0 up 2 from ${from}`, '1 up 1 from 0', `1 up 2 from ${from}`])
    expect(shown.ranks.map((one) => [(one as unknown as {attempt: number}).attempt, one.rank, one.exit])).toEqual([
      [1, 0, 3],
      [1, 1, 3],
      [2, 0, 0],
      [2, 1, 0],
    ])
    const reported = going.news
      .filter((one) => one.event === 'slurm')
      .map((one) => `${String(one.state)} ${one.requeued === null ? '-' : String((one.requeued as {why: string}).why)}`)
    expect(reported).toContain(`PENDING ${TAKEN}`)
    expect(reported.at(-1)).toContain(TAKEN)
    expect(going.news.filter((one) => one.event === 'restarting')).toMatchObject([
      {attempt: 2, why: `Slurm started the job again: ${TAKEN}`, nodes: ['c1', 'c2']},
    ])
    // The record: open all the while, with what both starts logged, and both starts' logs.
    const record = await tracking?.mlflow.getRun(shown.trackedId as string)
    expect([record?.status, record?.tags['flexrack.attempts'], record?.tags['flexrack.cause']]).toEqual([
      'FINISHED',
      '2',
      undefined,
    ])
    const history = await tracking?.mlflow.metricHistory(shown.trackedId as string, 'step')
    expect(history?.map((one) => one.value)).toEqual(Array.from({length: from + 1}, (_, index) => index + 1))
    const names = (await tracking?.mlflow.walkArtifacts(shown.trackedId as string))?.map((one) => one.path) ?? []
    expect(names).toEqual(
      expect.arrayContaining([
        'model.txt',
        'logs/attempt-1/rank-0.log',
        'logs/attempt-1/rank-1.log',
        'logs/attempt-2/rank-0.log',
        'logs/attempt-2/rank-1.log',
      ]),
    )
    const base = shown.folders.login as string
    expect(await readFile(join(base, 'job.log'), 'utf8')).toContain('DUE TO PREEMPTION')
  },
)

test(
  'a preempted job is not started again where it would begin anew, nor where the cluster ends such jobs: the run has failed, and Slurm is the cause',
  {timeout: 600_000},
  async () => {
    for (const [name, train] of [
      ['anew', 'slurm: {time: 10m}'],
      ['cheap', 'checkpoint: checkpoints/, slurm: {time: 10m, partition: cheap}'],
    ] as const) {
      const going = await start(name, train)
      await slurm.until(has(going, '0 three', '1 three'))
      const release = await takeNodes()
      const trained = await going.ended
      await release()
      expect(trained).toMatchObject({
        status: 'failed',
        exit: 1,
        attempts: 1,
        slurm: {state: 'PREEMPTED', requeued: null},
        left: {c1: [], c2: []},
      })
      expect(trained.cause).toMatchObject({
        kind: 'slurm',
        message: `Slurm ended job ${trained.slurm?.job}: ${TAKEN} (PREEMPTED)`,
      })
      expect(await runs.wait(await runs.find(going.run), 5)).toMatchObject({
        status: 'failed',
        result: {attempts: [{status: 'failed'}]},
      })
      expect(await alive(going.run)).toEqual([])
    }
  },
)

test(
  'requeued by somebody, then for a node that failed, after its leader was killed: attempts are counted on, and what is left is told',
  {timeout: 600_000},
  async () => {
    const going = await start('often', 'checkpoint: checkpoints/, slurm: {time: 10m}', {last: 3})
    await slurm.until(has(going, '0 three', '1 three'))
    const job = await jobOf(going.run)
    await slurm.slurm('scontrol', 'requeue', job)
    await slurm.until(async () => (await entryOf(going.run)).slurm?.requeued?.times === 1)
    await slurm.until(async () => going.said().some((line) => line.startsWith('0 up 2 from')))
    // The leader of the second start cannot write down any more how it ended.
    for (const name of (await readdir('/proc')).filter((one) => /^\d+$/.test(one))) {
      const words = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split('\0')
      const environment = (await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')).split('\0')
      if (
        words.includes('member') &&
        words.some((word) => word.endsWith(`/runs/${going.run}`)) &&
        environment.includes('SLURM_PROCID=0') &&
        words[0]?.endsWith('/python')
      )
        process.kill(Number(name), 'SIGKILL')
    }
    await slurm.slurm('scontrol', 'update', 'NodeName=c2', 'State=DOWN', 'Reason=test')
    await slurm.until(async () => (await entryOf(going.run)).slurm?.state === 'PENDING')
    // it may be back by itself (ReturnToService=2)
    await slurm.slurm('scontrol', 'update', 'NodeName=c2', 'State=RESUME').catch(() => '')
    const trained = await going.ended
    expect(trained).toMatchObject({
      status: 'finished',
      attempts: 3,
      outputs: ['model.txt'],
      slurm: {requeued: {times: 2}},
    })
    const shown = await runs.show(going.run)
    expect(shown.attempts.map(({attempt, status, why}) => [attempt, status, why])).toEqual([
      [1, 'stopped', 'start'],
      [2, 'stopped', 'Slurm started the job again'],
      [3, 'finished', 'Slurm started the job again'],
    ])
    expect(shown.ranks.map((one) => [(one as unknown as {attempt: number}).attempt, one.rank, one.exit])).toEqual([
      [1, 0, 3],
      [1, 1, 3],
      [2, 0, 137],
      [2, 1, expect.any(Number)],
      [3, 0, 0],
      [3, 1, 0],
    ])
    expect(await alive(going.run)).toEqual([])
    // A run that has finished stays so, also where somebody has Slurm start its job again.
    await slurm.slurm('scontrol', 'requeue', job)
    await slurm.until(
      async () =>
        (await slurm.slurm('scontrol', 'show', 'job', job)).includes('Restarts=3') &&
        (await slurm.slurm('squeue', '--noheader', '--states=all', `--jobs=${job}`, '--format=%T')).trim() ===
          'COMPLETED',
      60,
    )
    expect((await runs.show(going.run)).attempts).toHaveLength(3)
  },
)

test(
  'a requeued run that is stopped, or cancelled in Slurm, while it waits has stopped, with what it did until then',
  {timeout: 600_000},
  async () => {
    for (const [name, by] of [
      ['stopping', 'flexrack'],
      ['cancelled', 'slurm'],
    ] as const) {
      const going = await start(name, 'checkpoint: checkpoints/, slurm: {time: 10m}')
      await slurm.until(has(going, '0 three', '1 three'))
      const release = await takeNodes()
      // Slurm has it in its queue a moment before its last supervisor has written why. On a busy machine srun, which
      // hears of the requeue too, sometimes kills that supervisor first: nobody knows why then, as Slurm forgets it.
      const why = await slurm.until(async () => {
        const isOver = (await alive(going.run)).length === 0
        const {status, slurm: told} = await entryOf(going.run)
        return status === 'waiting' && (told?.requeued?.why === TAKEN || isOver) && {told: told?.requeued?.why}
      })
      expect([TAKEN, null]).toContain(why.told)
      const job = await jobOf(going.run)
      if (by === 'slurm') await slurm.slurm('scancel', job)
      else
        expect(await stopRun(runs.place, await runs.find(going.run), {}, context)).toEqual({
          run: going.run,
          status: 'stopped',
          left: {c1: [], c2: []},
          unreached: [],
        })
      const trained = await going.ended
      await release()
      expect(trained).toMatchObject({
        status: 'stopped',
        attempts: 1,
        slurm: {state: 'CANCELLED', requeued: {times: 1, why: why.told}},
      })
      expect(trained.cause?.message ?? null).toBe(
        by === 'slurm' ? `job ${job} was cancelled in Slurm (CANCELLED)` : null,
      )
      expect((await runs.show(going.run)).attempts).toMatchObject([
        {attempt: 1, status: 'stopped', nodes: ['c1', 'c2']},
      ])
    }
  },
)

test(
  'a job that gets notice (GraceTime) ends its ranks at once, and is taken when the notice is over: requeued, or cancelled, as without it',
  {timeout: 600_000},
  async () => {
    const going = await start('notice', 'checkpoint: checkpoints/, slurm: {time: 10m, partition: notice}')
    await slurm.until(has(going, '0 three', '1 three'))
    const release = await takeNodes()
    await slurm.until(has(going, '0 asked to end', '1 asked to end'))
    const waiting = await slurm.until(async () => {
      const one = await entryOf(going.run)
      return one.status === 'waiting' && one.slurm?.requeued?.why !== null && one
    }, 60)
    expect(waiting).toMatchObject({
      attempt: 1,
      ended: null,
      cause: null,
      slurm: {state: 'PENDING', requeued: {times: 1, why: TAKEN}},
    })
    await release()
    expect(await going.ended).toMatchObject({
      status: 'finished',
      attempts: 2,
      slurm: {requeued: {times: 1, why: TAKEN}},
    })
    expect((await runs.show(going.run)).attempts[1]).toMatchObject({
      why: `Slurm started the job again: ${TAKEN}`,
      checkpoint: {name: expect.stringMatching(/^checkpoints\/step-\d+$/)},
    })

    const last = await start('lastnotice', 'checkpoint: checkpoints/, slurm: {time: 10m, partition: lastnotice}')
    await slurm.until(has(last, '0 three', '1 three'))
    const releaseLast = await takeNodes()
    const trained = await last.ended
    await releaseLast()
    expect(trained).toMatchObject({
      status: 'failed',
      attempts: 1,
      slurm: {state: 'PREEMPTED', requeued: null},
      cause: {kind: 'slurm', message: `Slurm ended job ${trained.slurm?.job}: ${TAKEN} (PREEMPTED)`},
    })
  },
)

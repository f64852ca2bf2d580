import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest'
import {makeContext, StopRequest, type Context} from '../../src/lib/base/index.ts'
import {startHead, stopHead} from '../../src/lib/head/index.ts'
import {loadManifest} from '../../src/lib/manifest/index.ts'
import type {Trial} from '../../src/lib/protocol/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openRuns, type RunEntry, type Runs} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {findSweep, planSweep, runSweep, type Sweep, type SweepChoice, type Swept} from '../../src/lib/sweep/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSlurm, type TestSlurm} from '../support/slurm.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

/**
 * Jobs of `urgent` take the nodes of those of the others, which go back into the queue (slurm.conf(5), PreemptMode).
 */
const PREEMPTION = {
  lines: ['PreemptType=preempt/partition_prio', 'PreemptMode=REQUEUE'],
  partitions: ['PartitionName=main PriorityTier=1', 'PartitionName=urgent PriorityTier=10 PreemptMode=OFF'],
  credentials: 10,
}

/**
 * Saves what it has come to, and holds on until the file GO is there, the first time; what is started again goes on
 * from there, and logs where that was.
 */
const SCRIPT = `import json, os, pathlib, sys, time, urllib.request
came, trial, attempt, out = os.environ.get("FLEXRACK_CHECKPOINT"), os.environ["FLEXRACK_TRIAL"], os.environ["FLEXRACK_ATTEMPT"], pathlib.Path(os.environ["FLEXRACK_OUTPUTS"])
x = float(os.environ["FLEXRACK_PARAM_X"])
def log(key, value, step):
    body = {"run_id": os.environ["MLFLOW_RUN_ID"], "key": key, "value": value, "timestamp": int(time.time() * 1000), "step": step}
    urllib.request.urlopen(urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/runs/log-metric", json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]})).read()
step = int(open(came).read()) if came else 0
with open(os.environ["STARTS"], "a") as starts:
    starts.write(f"{trial} attempt {attempt} from {step}\\n")
log("loss", (x - 1) ** 2 + 10 - step, step)
(out / "checkpoints").mkdir(parents=True, exist_ok=True)
(out / "checkpoints" / "part.tmp").write_text(str(step + 5))
os.replace(out / "checkpoints" / "part.tmp", out / "checkpoints" / f"step-{step + 5}")
while attempt == "1" and not pathlib.Path(os.environ["GO"]).exists(): time.sleep(0.05)
log("loss", (x - 1) ** 2, step + 5)
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
  folder = await mkdtemp(join(tmpdir(), 'flexrack-sweep-requeue-'))
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
  ended: Promise<Swept>
  events: string[]
  /** What the trials said when they began: `0 attempt 1 from 0`. */
  starts(): Promise<string[]>
  go(): Promise<void>
  shown(): Promise<Sweep>
  again(choice: Partial<SweepChoice>): Going
  /** Of a trial's run. */
  entry(trial: number): Promise<RunEntry>
}

/** Sweeps over x = 0, 1, ... as an array, a whole node for each trial, two at a time. */
async function sweep(name: string, points: number, train: string, own: Context = context): Promise<Going> {
  const home = join(folder, name)
  await mkdir(home, {recursive: true})
  const xs = Array.from({length: points}, (_, index) => index).join(', ')
  await writeFile(
    join(home, 'flexrack.yaml'),
    `name: ${name}\ntrain: {command: train.py, launcher: plain, grace: 5s, env: {STARTS: ${home}.starts, GO: ${home}.go}, slurm: {exclusive: true, time: 10m}, ${train}}\nsweep: {metric: loss, goal: minimize, sampler: grid, parallel: 2, parameters: {x: [${xs}]}}\n`,
  )
  await writeFile(join(home, 'train.py'), SCRIPT)
  const manifest = await loadManifest(join(home, 'flexrack.yaml'))
  const shown = (): Promise<Sweep> => findSweep({rack, fleet, project: name}, undefined, context)
  const begin = (choice: Partial<SweepChoice>, its: Context): Going => {
    const events: string[] = []
    const place = {manifest, rack, fleet}
    const full: SweepChoice = {preflight: {skip: [], force: false}, args: [], ...choice}
    const onTrial = (event: string, {number, attempt}: Trial): void => void events.push(`${event} ${number}.${attempt}`)
    const ended = planSweep(place, full, its).then((plan) => runSweep(plan, place, full, {onTrial}, its))
    ended.catch(() => {}) // where it is expected to, it is looked at later
    return {
      ended,
      events,
      shown,
      again: (more) => begin(more, context),
      go: () => writeFile(`${home}.go`, ''),
      starts: async () =>
        (await readFile(`${home}.starts`, 'utf8').catch(() => ''))
          .split('\n')
          .filter((line) => line !== '')
          .toSorted(),
      entry: async (trial) => {
        const {run} = (await shown()).trials.find((one) => one.number === trial) as Trial
        return (await runs.list({all: true, limit: 100})).runs.find((one) => one.run === run) as RunEntry
      },
    }
  }
  return begin({}, own)
}

/** Numbers of the tasks in a state, as Slurm's programs take them. */
async function tasks(state: string): Promise<string[]> {
  return (await slurm.slurm('squeue', '--noheader', '-r', '--partition=main', `--states=${state}`, '--format=%i'))
    .trim()
    .split('\n')
    .filter((line) => line !== '')
}

async function alive(name: string): Promise<number[]> {
  const found: number[] = []
  for (const pid of (await readdir('/proc')).filter((one) => /^\d+$/.test(one))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    if (environment.split('\0').some((entry) => entry.startsWith(`FLEXRACK_TAG=${name}`))) found.push(Number(pid))
  }
  return found
}

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

const begun =
  (going: Going, ...wanted: string[]) =>
  async (): Promise<boolean> =>
    wanted.every(
      (
        (known) => (one: string) =>
          known.includes(one)
      )(await going.starts()),
    )

async function historyOf(trial: Trial): Promise<[step: number, value: number][]> {
  const {tracking} = await runs.records()
  const record = (await runs.show(trial.run as string)).trackedId as string
  return ((await tracking?.mlflow.metricHistory(record, 'loss')) ?? []).map((one): [number, number] => [
    one.step,
    one.value,
  ])
}

test(
  'a task that is requeued is the same trial and the same run: its next attempt goes on from its checkpoint, and the sweep waits for it',
  {timeout: 600_000},
  async () => {
    const going = await sweep('requeued', 3, 'checkpoint: checkpoints/')
    await slurm.until(begun(going, '0 attempt 1 from 0', '1 attempt 1 from 0'))
    const [first] = (await tasks('RUNNING')).filter((one) => one.endsWith('_0'))
    await slurm.slurm('scontrol', 'requeue', first as string)
    const waiting = await slurm.until(async () => {
      const one = await going.entry(0)
      return one.status === 'waiting' && one
    })
    expect(waiting).toMatchObject({attempt: 1, ended: null, cause: null, slurm: {job: first, requeued: {times: 1}}})
    expect((await going.shown()).trials.find((one) => one.number === 0)).toMatchObject({state: 'running', attempt: 1})
    await going.go()
    const swept = await going.ended
    expect(swept).toMatchObject({status: 'finished', limit: 3})
    expect(swept.trials.map((one) => [one.number, one.state, one.attempt, one.value]).toSorted()).toEqual([
      [0, 'complete', 1, 1],
      [1, 'complete', 1, 0],
      [2, 'complete', 1, 1],
    ])
    expect(await going.starts()).toEqual([
      '0 attempt 1 from 0',
      '0 attempt 2 from 5',
      '1 attempt 1 from 0',
      '2 attempt 1 from 0',
    ])
    expect(going.events.filter((one) => one.endsWith('0.1'))).toEqual(['started 0.1', 'ended 0.1'])
    const trial = swept.trials.find((one) => one.number === 0) as Trial
    expect((await runs.show(trial.run as string)).attempts).toMatchObject([
      {attempt: 1, status: 'stopped'},
      {attempt: 2, status: 'finished', why: 'Slurm started the job again'},
    ])
    expect(await historyOf(trial)).toEqual([
      [0, 11],
      [5, 6],
      [10, 1],
    ])
    // A trial that is over stays so, also where somebody has Slurm start its task again.
    await slurm.slurm('scontrol', 'requeue', first as string)
    await slurm.until(
      async () =>
        (await slurm.slurm('scontrol', 'show', 'job', first as string)).includes('Restarts=2') &&
        (await slurm.slurm('squeue', '--noheader', '--states=all', `--jobs=${first}`, '--format=%T')).trim() ===
          'COMPLETED',
      60,
    )
    expect((await runs.show(trial.run as string)).attempts).toHaveLength(2)
    expect(await going.starts()).toHaveLength(4)
  },
)

test(
  'trials whose nodes are taken by a job that comes first go on when it is over, also where the command was away meanwhile',
  {timeout: 600_000},
  async () => {
    const gone = new AbortController()
    const going = await sweep('taken', 3, 'checkpoint: checkpoints/', {...context, signal: gone.signal})
    await slurm.until(begun(going, '0 attempt 1 from 0', '1 attempt 1 from 0'))
    const release = await takeNodes()
    await slurm.until(
      async () => (await going.entry(0)).status === 'waiting' && (await going.entry(1)).status === 'waiting',
    )
    expect(await going.entry(1)).toMatchObject({
      slurm: {requeued: {times: 1, why: 'a job that comes first took its place'}},
    })
    gone.abort(new StopRequest('terminal'))
    await expect(going.ended).rejects.toMatchObject({code: 'INTERRUPTED'})
    const {sweep: id, trials} = await going.shown()
    expect(trials.map((one) => one.state)).toEqual(['running', 'running', 'running'])
    const resumed = going.again({resume: id})
    await slurm.until(async () => Promise.resolve(resumed.events.length === 2))
    await release()
    await going.go()
    const swept = await resumed.ended
    expect(swept.trials.map((one) => [one.number, one.state, one.attempt]).toSorted()).toEqual([
      [0, 'complete', 1],
      [1, 'complete', 1],
      [2, 'complete', 1],
    ])
    expect(await going.starts()).toEqual([
      '0 attempt 1 from 0',
      '0 attempt 2 from 5',
      '1 attempt 1 from 0',
      '1 attempt 2 from 5',
      '2 attempt 1 from 0',
    ])
    expect(new Set(resumed.events.map((one) => one.split(' ')[0]))).toEqual(new Set(['resumed', 'ended']))
  },
)

test(
  'Ctrl-C takes requeued tasks that wait out of Slurm; --resume starts the same points again, as jobs of their own',
  {timeout: 600_000},
  async () => {
    const stop = new AbortController()
    const going = await sweep('stopped', 3, 'checkpoint: checkpoints/', {...context, signal: stop.signal})
    await slurm.until(begun(going, '0 attempt 1 from 0', '1 attempt 1 from 0'))
    const release = await takeNodes()
    await slurm.until(
      async () => (await going.entry(0)).status === 'waiting' && (await going.entry(1)).status === 'waiting',
    )
    stop.abort()
    await expect(going.ended).rejects.toMatchObject({code: 'INTERRUPTED'})
    expect(
      await slurm.until(
        async () =>
          (await tasks('all')).length === 0 ||
          (await slurm.slurm('squeue', '--noheader', '--partition=main')).trim() === '',
      ),
    ).toBe(true)
    const {sweep: id} = await going.shown()
    expect(await alive(id)).toEqual([])
    await release()
    await going.go()
    const swept = await going.again({resume: id}).ended
    expect(swept.trials.map((one) => [one.number, one.state, one.attempt]).toSorted()).toEqual([
      [0, 'complete', 2],
      [1, 'complete', 2],
      [2, 'complete', 2],
    ])
  },
)

test(
  'a task that begins anew is not requeued: where its node is taken its trial is started again, as a job of its own',
  {timeout: 600_000},
  async () => {
    const going = await sweep('anew', 2, '')
    await slurm.until(begun(going, '0 attempt 1 from 0', '1 attempt 1 from 0'))
    const release = await takeNodes()
    await slurm.until(async () => Promise.resolve(going.events.some((one) => one.endsWith('.2'))))
    await release()
    await going.go()
    const swept = await going.ended
    expect(swept.trials.map((one) => [one.number, one.state, one.attempt]).toSorted()).toEqual([
      [0, 'complete', 2],
      [1, 'complete', 2],
    ])
    expect(await going.starts()).toEqual([
      '0 attempt 1 from 0',
      '0 attempt 1 from 0',
      '1 attempt 1 from 0',
      '1 attempt 1 from 0',
    ])
  },
)

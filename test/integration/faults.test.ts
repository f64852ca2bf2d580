import {spawn, type ChildProcess} from 'node:child_process'
import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {connectHead, startHead} from '../../src/lib/head/index.ts'
import {localUp} from '../../src/lib/local/index.ts'
import {openRuns, type ShownRun} from '../../src/lib/runs/index.ts'
import {openMlflow} from '../../src/lib/tracking/index.ts'
import {buildProgram} from '../support/program.ts'
import {chosenSeed} from '../support/property.ts'
import {recorded} from '../support/recording.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

/**
 * FLEXRACK_FAULTS=200 tries more; FLEXRACK_SEED=N repeats what a failure named. The gate kills the service supervisor
 * alone: head and MLflow are killed in head/outage.test.ts, all else of a run in chaos.test.ts.
 */
const ROUNDS = Number(process.env.FLEXRACK_FAULTS ?? 1)
const IS_GATE = ['FLEXRACK_FAULTS', 'FLEXRACK_SEED', 'FLEXRACK_LONG'].every((name) => process.env[name] === undefined)
const SEED = chosenSeed()
const PATIENCE_MS = 180_000
const STEPS = 40

/** Every value is printed, and noted only once it was acknowledged. */
const SCRIPT = `import json, os, time, urllib.error, urllib.request
rank = os.environ["RANK"]
noted = open(os.path.join(os.environ["FLEXRACK_OUTPUTS"], "acknowledged-" + rank), "a")
for step in range(${STEPS}):
    value = {"run_id": os.environ["MLFLOW_RUN_ID"], "key": "rank-" + rank, "value": step, "timestamp": int(time.time() * 1000), "step": step}
    request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/runs/log-metric", json.dumps(value).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]}, method="POST")
    try:
        urllib.request.urlopen(request, timeout=20).read()
        print(step, file=noted, flush=True)
    except OSError:
        pass
    print("step", step, flush=True)
    time.sleep(0.02)
`

let setup: TrainRack
let project: string

beforeAll(async () => {
  buildProgram()
  setup = await startTrainRack(2)
  await startHead(setup.rack.rack, setup.rack.fleet(), setup.rack.context())
  project = await mkdtemp(join(tmpdir(), 'flexrack-faults-'))
  await writeFile(
    join(project, 'flexrack.yaml'),
    'name: proj\ntrain: {command: train.py, launcher: plain, nodes: 2, grace: 3s}\n',
  )
  await writeFile(join(project, 'train.py'), SCRIPT)
}, 900_000)
afterAll(async () => {
  await setup?.stop()
  await rm(project, {recursive: true, force: true})
})

type Victim =
  | 'command'
  | 'ssh servers'
  | 'leader'
  | 'member'
  | 'reaper'
  | 'rank'
  | 'wrapper'
  | 'head'
  | 'mlflow'
  | 'service supervisor'
const HARMLESS: Victim[] = ['command', 'ssh servers', 'reaper', 'head', 'mlflow', 'service supervisor']
const VICTIMS: Victim[] = [...HARMLESS, 'leader', 'member', 'rank', 'wrapper']

test(
  `whatever is killed, a run ends or recovers, tells the truth and leaves nothing (seed ${SEED})`,
  {timeout: ROUNDS * PATIENCE_MS},
  async () => {
    const random = generator(SEED)
    const order = IS_GATE
      ? (['service supervisor'] as const)
      : Array.from({length: ROUNDS}, (_, round) => VICTIMS[(round + SEED) % VICTIMS.length] as Victim)
    for (const [round, victim] of order.entries()) {
      const [moment, second] = [Math.floor(random() * 1200), random() < 0.5]
      try {
        await tryOnce(victim, moment, second ? 1 : 0)
      } catch (error) {
        throw new Error(
          `FLEXRACK_SEED=${SEED}, round ${round}: ${victim} killed after ${moment} ms, rank ${second ? 1 : 0}: ${(error as Error).message}`,
          {cause: error},
        )
      }
    }
  },
)

/** One run, one SIGKILL, and everything that must hold afterwards. */
async function tryOnce(victim: Victim, moment: number, rank: number): Promise<void> {
  const command = startTrain()
  const run = await command.run
  await pause(moment)
  await kill(victim, run, rank, command.child)
  if (victim === 'ssh servers') await localUp({nodes: 2, owner: process.pid}, setup.rack.context())
  const status = await within(command.ended, () => `the command does not end:\n${command.output()}`)
  const settled = await settle(run)
  const complete = (await Promise.all([0, 1].map((one) => acknowledged(run, one)))).map(
    (steps) => steps.at(-1) === STEPS - 1,
  )
  if (HARMLESS.includes(victim)) expect(settled.status).toBe('finished')
  if (settled.status === 'failed') expect(settled.cause).not.toBeNull()
  if (settled.status === 'finished') expect(settled.ranks.map((one) => one.exit)).toEqual([0, 0])
  if (victim !== 'command')
    expect([status, command.output()]).toEqual([settled.status === 'finished' ? 0 : 6, expect.anything()])
  expect(['finished', 'failed']).toContain(settled.status)
  if (settled.status === 'finished') expect(complete).toEqual([true, true])
  await checkRecord(run, settled)
  await checkLogs(run)
}

function startTrain(): {
  child: ChildProcess
  run: Promise<string>
  ended: Promise<number | null>
  output: () => string
} {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/run.js'), 'train'], {
    cwd: project,
    env: {...setup.rack.env, ...recorded()},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const run = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += String(chunk)
        const id = /run (proj-\w{5}):/.exec(text)?.[1]
        if (id && text.includes('node-1:0 | step') && text.includes('node-2:1 | step')) resolve(id)
      })
    }
    void ended.then(() => reject(new Error(`the command ended before its ranks were up:\n${text}`)))
  })
  run.catch(() => {})
  return {child, run, ended, output: () => text}
}

async function kill(victim: Victim, run: string, rank: number, command: ChildProcess): Promise<void> {
  const pid = async (): Promise<number | undefined> => {
    if (victim === 'command') return command.pid
    if (victim === 'ssh servers') return (await setup.rack.status()).pid ?? undefined
    if (victim === 'leader' || victim === 'member')
      return (await json(runFile(run, victim === 'leader' ? 0 : 1, 'state.json')))?.pid
    if (victim === 'rank' || victim === 'wrapper')
      return (await json(runFile(run, rank, `attempts/1/rank-${rank}.json`)))?.[victim === 'rank' ? 'pid' : 'wrapper']
    const home = setup.rack.home
    if (victim === 'reaper')
      return find(
        (words) =>
          words.some((word) => word.includes('reaper')) &&
          words.some((word) => word.includes(run) && word.startsWith(home)),
      )
    if (victim === 'head')
      return find(
        (words) =>
          words.some((word) => word.includes('head-service')) &&
          words.join(' ').includes(home) &&
          !words.join(' ').includes('service/supervisor.py'),
      )
    if (victim === 'mlflow')
      return find((_words, environment) =>
        environment.some((word) => word.startsWith('FLEXRACK_HEAD_MLFLOW=') && word.includes(home)),
      )
    return find((words) => words.join(' ').includes('service/supervisor.py') && words.join(' ').includes(home))
  }
  const found = await pid()
  if (!found) return // it had ended by then: a kill that comes too late is none
  try {
    process.kill(found, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** What a person would do next: look, until nothing changes any more. */
async function settle(run: string): Promise<ShownRun> {
  const until = Date.now() + PATIENCE_MS - 5000
  for (;;) {
    await startHead(setup.rack.rack, setup.rack.fleet(), setup.rack.context())
    const runs = openRuns(
      {rack: setup.rack.rack, fleet: setup.rack.fleet(), manifest: await setup.manifest()},
      setup.rack.context(),
    )
    const shown = await runs.show(run)
    await runs.close()
    const alive = await setup.alive(run)
    const open = ['starting', 'waiting', 'running', 'stopping', 'recording', 'unknown'].includes(shown.status)
    if (!open && shown.recorded && alive.length === 0) return shown
    if (Date.now() > until)
      throw new Error(`not settled: ${shown.status}, recorded ${String(shown.recorded)}, alive ${alive.join(' ')}`)
    await pause(200)
  }
}

async function checkRecord(run: string, settled: ShownRun): Promise<void> {
  const head = await connectHead(setup.rack.rack, setup.rack.fleet(), setup.rack.context())
  const mlflow = openMlflow({uri: head.uri, token: head.token})
  const record = await mlflow.getRun(settled.trackedId as string)
  expect(record.status).toBe(settled.status === 'finished' ? 'FINISHED' : 'FAILED')
  expect(record.tags['flexrack.exit']).toMatch(settled.status === 'finished' ? /^0$/ : /^[1-9]/)
  for (const rank of [0, 1]) {
    const steps = (await mlflow.metricHistory(record.id, `rank-${rank}`).catch(() => []))
      .map((one) => one.step)
      .toSorted((a, b) => a - b)
    expect(steps, `rank ${rank} has values twice`).toEqual([...new Set(steps)])
    expect(
      (await acknowledged(run, rank)).filter((step) => !steps.includes(step)),
      `rank ${rank}: acknowledged and lost`,
    ).toEqual([])
  }
  expect(await head.request('GET', '/flexrack/v1/locks')).toEqual({locks: []})
  await head.close()
}

/** Both logs on the nodes hold every line once, in order, up to where the rank ended. */
async function checkLogs(run: string): Promise<void> {
  for (const rank of [0, 1]) {
    const lines = (await readFile(runFile(run, rank, `attempts/1/rank-${rank}.log`), 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('step '))
    expect(lines).toEqual(Array.from({length: lines.length}, (_, step) => `step ${step}`))
  }
}

async function acknowledged(run: string, rank: number): Promise<number[]> {
  return (await readFile(runFile(run, rank, `outputs/acknowledged-${rank}`), 'utf8'))
    .trim()
    .split('\n')
    .filter(Boolean)
    .map(Number)
}

function runFile(run: string, node: number, name: string): string {
  return join(setup.rack.home, 'state/local/nodes', `node-${node + 1}`, 'home/.flexrack/runs', run, name)
}

async function json(file: string): Promise<Record<string, number> | undefined> {
  return JSON.parse(await readFile(file, 'utf8').catch(() => 'null')) ?? undefined
}

async function find(matches: (words: string[], environment: string[]) => boolean): Promise<number | undefined> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [words, environment] = await Promise.all(
      ['cmdline', 'environ'].map(async (file) =>
        (await readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')).split('\0'),
      ),
    )
    if (Number(name) !== process.pid && matches(words as string[], environment as string[])) return Number(name)
  }
  return undefined
}

async function within<T>(work: Promise<T>, why: () => string): Promise<T> {
  const late = new AbortController()
  const limit = pause(PATIENCE_MS - 5000, undefined, {signal: late.signal}).then(() => Promise.reject(new Error(why())))
  limit.catch(() => {})
  return Promise.race([work, limit]).finally(() => late.abort())
}

/** mulberry32: small, seeded, good enough to choose moments. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

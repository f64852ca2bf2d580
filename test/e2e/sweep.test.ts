import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {startHead} from '../../src/lib/head/index.ts'
import type {Sweep, Swept} from '../../src/lib/sweep/index.ts'
import {buildProgram, flexrack, type RunOptions} from '../support/program.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

/** What every sweep here minimizes: (x - 1)^2 + 1 / (step + 1), logged step by step, on a machine without PyTorch or MLflow's client. */
const SCRIPT = `import argparse, json, os, pathlib, time, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--shape-name", default="flat")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--hold", default="")
options = parser.parse_args()
def post(path, value):
    request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/" + path, json.dumps({"run_id": os.environ["MLFLOW_RUN_ID"], **value}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]}, method="POST")
    urllib.request.urlopen(request).read()
with open(os.environ["STARTS"], "a") as starts:
    starts.write(os.environ["FLEXRACK_TRIAL"] + " " + os.environ["FLEXRACK_PARAM_X"] + "\\n")
if os.environ["FLEXRACK_PARAM_X"] in options.hold.split(","):
    while not pathlib.Path(os.environ["GO"]).exists(): time.sleep(0.05)
for step in range(options.steps):
    post("runs/log-metric", {"key": "loss", "value": (options.x - 1) ** 2 + 1 / (step + 1) + (0.5 if options.shape_name == "deep" else 0), "timestamp": int(time.time() * 1000), "step": step})
`

let setup: TrainRack
const folders: string[] = []

beforeAll(async () => {
  buildProgram()
  setup = await startTrainRack(2)
  await startHead(setup.rack.rack, setup.rack.fleet(), makeContext({env: setup.rack.env}))
}, 900_000)
afterAll(async () => {
  await setup?.stop()
  for (const folder of folders) await rm(folder, {recursive: true, force: true})
})

interface Project {
  folder: string
  run(args: string[], options?: RunOptions): ReturnType<typeof flexrack>
  /** `trial x` of every start there was. */
  starts(): Promise<string[]>
}

async function project(name: string, sweep: string, {script = SCRIPT, args = ''} = {}): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-e2e-sweep-'))
  folders.push(folder)
  const env = `{STARTS: ${folder}.starts, GO: ${folder}.go}`
  folders.push(`${folder}.starts`, `${folder}.go`)
  await writeFile(join(folder, 'flexrack.yaml'), `name: ${name}\ntrain: {command: 'train.py ${args}', launcher: plain, grace: 5s, env: ${env}}\nsweep: {metric: loss, goal: minimize, ${sweep}}\n`)
  await writeFile(join(folder, 'train.py'), script)
  const {readFile} = await import('node:fs/promises')
  return {
    folder,
    run: (words, options = {}) => flexrack(words, {cwd: folder, env: setup.rack.env, ...options}),
    starts: async () => (await readFile(`${folder}.starts`, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '').toSorted(),
  }
}

test('a grid is tried whole, every point once, and the best one is exact', {timeout: 300_000}, async () => {
  const {run, starts} = await project('grid', 'sampler: grid, parallel: 2, parameters: {x: [0, 1, 3], shape_name: [flat, deep]}')
  const {status, stdout, stderr} = await run(['sweep', '--json'])
  expect(status, stderr).toBe(0)
  const swept = JSON.parse(stdout) as Swept
  expect(swept).toMatchObject({status: 'finished', limit: 6, best: {state: 'complete', params: {x: 1, shape_name: 'flat'}, value: 1 / 3}})
  expect(swept.trials.map((one) => [one.params.x, one.params.shape_name, one.value]).toSorted()).toEqual(
    [0, 1, 3].flatMap((x) => ['deep', 'flat'].map((shape) => [x, shape, (x - 1) ** 2 + 1 / 3 + (shape === 'deep' ? 0.5 : 0)])).toSorted(),
  )
  expect(await starts()).toHaveLength(6)
})

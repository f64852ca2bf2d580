import {readFile, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'

/**
 * What sweeps in tests minimize: (x - 1)^2 + 1 / (step + 1), logged step by step, on a machine without PyTorch or
 * MLflow's client. Those of `--hold` wait for the file GO.
 */
export const SWEEP_SCRIPT = `import argparse, json, os, pathlib, time, urllib.request
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

/** Trial 0 is the best at every step; the others would go on for ever. */
export const ENDLESS_SCRIPT = SWEEP_SCRIPT.replace(
  'for step in range(options.steps):',
  `import itertools
for step in (range(options.steps) if os.environ["FLEXRACK_TRIAL"] == "0" else itertools.count()):
    time.sleep(0.05)`,
).replace('(options.x - 1) ** 2 +', 'int(os.environ["FLEXRACK_TRIAL"]) +')

/** A project whose sweep runs such a script. */
export interface SweepFiles {
  /** From here on held trials end. */
  go(): Promise<void>
  /** `trial x` of every start there was, in order. */
  starts(): Promise<string[]>
  remove(): Promise<void>
}

/** `sweep`, `train`: what the manifest says besides. */
export async function writeSweep(
  folder: string,
  name: string,
  sweep: string,
  {script = SWEEP_SCRIPT, args = '', train = ''}: {script?: string; args?: string; train?: string} = {},
): Promise<SweepFiles> {
  const [starts, go] = [`${folder}.starts`, `${folder}.go`]
  await writeFile(
    join(folder, 'flexrack.yaml'),
    `name: ${name}\ntrain: {command: 'train.py ${args}', launcher: plain, grace: 5s, env: {STARTS: ${starts}, GO: ${go}}, ${train}}\nsweep: {metric: loss, goal: minimize, ${sweep}}\n`,
  )
  await writeFile(join(folder, 'train.py'), script)
  return {
    go: () => writeFile(go, ''),
    starts: async () =>
      (await readFile(starts, 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line !== '')
        .toSorted(),
    remove: async () => {
      for (const one of [folder, starts, go]) await rm(one, {recursive: true, force: true})
    },
  }
}

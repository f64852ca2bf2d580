/** What sweeps in tests minimize: (x - 1)^2 + 1 / (step + 1), logged step by step, on a machine without PyTorch or MLflow's client. Those of `--hold` wait for the file GO. */
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
export const ENDLESS_SCRIPT = SWEEP_SCRIPT.replace('for step in range(options.steps):', `import itertools
for step in (range(options.steps) if os.environ["FLEXRACK_TRIAL"] == "0" else itertools.count()):
    time.sleep(0.05)`).replace('(options.x - 1) ** 2 +', 'int(os.environ["FLEXRACK_TRIAL"]) +')

"""XGBoost trains on the GPU what it trains on the CPU: trees, predictions, regression and classes."""

import json

import numpy as np
import xgboost as xgb
from stops import Tour

random = np.random.default_rng(0)
tour = Tour()
# No more rows than bins: both devices cut at the same values.
x = random.standard_normal((250, 8)).astype(np.float32)
y = (x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + 0.1 * random.standard_normal(250) > 0).astype(np.int32)


def train(device, objective, target):
    data = xgb.QuantileDMatrix(x, target)
    said = {}
    model = xgb.train(
        {"device": device, "objective": objective, "tree_method": "hist", "max_depth": 4, "eta": 0.3, "seed": 1},
        data,
        3,
        evals=[(data, "train")],
        evals_result=said,
        verbose_eval=False,
    )
    return model, list(said["train"].values())[0]


# The GPU sums gradients as whole numbers. Of two splits that are as good as each other it may take the other one, and
# gradients of classes are nearly alike.
for objective, target, within in (("binary:logistic", y, 2e-2), ("reg:squarederror", x[:, 0] ** 2 + x[:, 1], 1e-5)):
    gpu, losses = train("cuda", objective, target)
    cpu, expected = train("cpu", objective, target)
    tour.says(
        f"{objective} is trained on the GPU",
        json.loads(gpu.save_config())["learner"]["generic_param"]["device"] == "cuda:0",
    )
    tour.stop(f"{objective}, loss of 3 rounds", losses, expected, within)
    if within < 1e-3:
        tour.stop(f"{objective}, predictions", gpu.predict(xgb.DMatrix(x)), cpu.predict(xgb.DMatrix(x)), within)
    right = [float(np.mean((one.predict(xgb.DMatrix(x)) > 0.5) == (target > 0.5))) for one in (gpu, cpu)]
    tour.stop(f"{objective}, accuracy", right[0], right[1], within)
    # The same trees, on both devices: rounding is all that is left.
    same = cpu.inplace_predict(x)
    cpu.set_param({"device": "cuda"})
    tour.stop(f"{objective}, one model on both", cpu.predict(xgb.DMatrix(x)), same, 1e-5)
tour.end()

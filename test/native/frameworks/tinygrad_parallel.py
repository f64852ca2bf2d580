"""tinygrad trains a small network on the first so many of its CUDA devices, each with its part of every batch; the
steps are one graph over all of them. Argument: how many. Prints the losses of the steps, in JSON.
"""

import json
import sys

import numpy as np
import tinygrad_places

tinygrad_places.tell()
from tinygrad import Device, Tensor, TinyJit  # noqa: E402  (after it is told)

STEPS, SAMPLES, INPUTS, OUTPUTS, RATE = 6, 128, 12, 4, 0.05
devices = tuple(f"CUDA:{number}" for number in range(int(sys.argv[1])))
random = np.random.default_rng(3)
weights = random.standard_normal((INPUTS, OUTPUTS)).astype(np.float32)
hidden = random.standard_normal((INPUTS, OUTPUTS)).astype(np.float32)


def placed(array, axis=None):
    return (Tensor(array).shard(devices, axis) if len(devices) > 1 else Tensor(array, device=devices[0])).realize()


model = placed(weights)


@TinyJit
def step(inputs, wanted):
    off = (inputs @ model).tanh() - wanted
    losses = off.square().mean(axis=1)
    gradient = inputs.T @ (2 * off * (1 - (off + wanted).square())) / (SAMPLES * OUTPUTS)
    model.assign(model - RATE * SAMPLES * gradient)
    return losses.contiguous().realize(), model.realize()


found = []
for _ in range(STEPS):
    inputs = random.standard_normal((SAMPLES, INPUTS)).astype(np.float32)
    batch = placed(inputs, 0), placed(np.tanh(inputs @ hidden), 0)
    # A graph does not wait for the default streams of its other devices, on which tinygrad has put these.
    for name in devices:
        Device[name].synchronize()
    losses, _ = step(*batch)
    found.append(float(losses.numpy().astype(np.float64).mean()))
print(json.dumps(found))

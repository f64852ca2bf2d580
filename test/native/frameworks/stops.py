"""What programs in this folder share: stops, each a value of the GPU beside the CPU's. One line of JSON a stop, then
PASS or FAIL.
"""

import json
import sys

import numpy as np


class Tour:
    """Stops of one framework. `within` is the largest difference between the two that is no error, relative to the
    largest value (at least 1).
    """

    def __init__(self):
        self.bad = []

    def stop(self, name, gpu, cpu, within):
        got, expected = np.asarray(gpu, dtype=np.float64), np.asarray(cpu, dtype=np.float64)
        if got.shape != expected.shape:
            difference = float("inf")
        elif got.size == 0:
            difference = 0.0
        else:
            difference = float(np.max(np.abs(got - expected)) / max(1.0, float(np.max(np.abs(expected)))))
        is_good = difference <= within
        print(
            json.dumps({"stop": name, "values": int(got.size), "difference": difference, "within": within}), flush=True
        )
        if not is_good:
            self.bad.append(f"{name}: {difference} is more than {within}")

    def same(self, name, gpu, cpu):
        self.stop(name, gpu, cpu, 0.0)

    def says(self, name, is_so, why=""):
        print(json.dumps({"stop": name, "so": bool(is_so)}), flush=True)
        if not is_so:
            self.bad.append(f"{name}: {why or 'it is not so'}")

    def end(self):
        for one in self.bad:
            print(one, file=sys.stderr)
        print("FAIL" if self.bad else "PASS", flush=True)
        sys.exit(1 if self.bad else 0)

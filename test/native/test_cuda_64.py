"""One process with 64 devices on 8 servers: a model that learns on all of them has the losses that it has on one
device, to the last bit (FLEXRACK_LONG=1).
"""

import json
import os
import sys
import unittest
from pathlib import Path

from servers import run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon, native_env  # noqa: E402  (after the path)

PROGRAM = Path(__file__).resolve().parent / "data_parallel.py"


class ManyServers(unittest.TestCase):
    def losses(self, devices, env):
        code, out, err = run([sys.executable, PROGRAM, devices], env, preload=True)
        self.assertEqual(code, 0, out[-1000:] + err[-3000:])
        return [float.fromhex(value) for value in json.loads(out)]

    def test_64_devices_on_8_servers_learn_as_one_device(self):
        alone = self.losses(1, native_env("sim"))
        self.assertLess(alone[-1], 0.5 * alone[0])
        daemons = []
        for number in range(8):
            env = {"FLEXRACK_SIM_SEED": str(number)}
            daemons.append(GpuDaemon("sim", 8, options=("--sim-memory", "256MiB"), env=env))
            self.addCleanup(daemons[-1].stop)
        with GpuAttached(daemons, "tls") as attached:
            self.assertEqual(self.losses(64, attached.env), alone)


if os.environ.get("FLEXRACK_LONG") != "1":
    del ManyServers
    print("64 devices on 8 servers are NOT tried: FLEXRACK_LONG is not 1 (test_cuda_64.py)", file=sys.stderr)

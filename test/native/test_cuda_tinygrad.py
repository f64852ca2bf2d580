"""tinygrad on GPUs that are elsewhere: its CUDA device, whose kernels it writes as PTX, finds what numpy finds, and
what it trains on many devices in graphs over all of them does not depend on which servers have them (FLEXRACK_LONG=1).
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "frameworks"))
from compare import FRAMEWORKS, HERE, SECONDS, GpuAttached, GpuDaemon, native_env, tour  # noqa: E402
from servers import run  # noqa: E402

TINYGRAD = FRAMEWORKS["tinygrad"]


class CudaTinygrad(unittest.TestCase):
    maxDiff = None

    def run_in(self, env):
        code, stops, _, text = tour(TINYGRAD, env)
        self.assertEqual(code, 0, text)
        return stops

    def test_operations(self):
        daemon = GpuDaemon("sim", env=TINYGRAD.settings)
        self.addCleanup(daemon.stop)
        with GpuAttached([daemon], "shm") as attached:
            remote = self.run_in(attached.env)
        self.assertEqual(remote, self.run_in({**native_env("sim"), **TINYGRAD.settings}))


class ManyDevices(unittest.TestCase):
    def losses(self, devices, env):
        with tempfile.TemporaryDirectory(prefix="flexrack-framework-") as folder:
            words = [TINYGRAD.python(), HERE / "tinygrad_parallel.py", devices]
            own = {**env, **TINYGRAD.env, **TINYGRAD.settings, "FLEXRACK_SIM_CACHE": folder}
            code, out, err = run(words, own, seconds=SECONDS, preload=True)
        self.assertEqual(code, 0, err[-3000:])
        return json.loads(out)

    def on_servers(self, devices, servers):
        daemons = []
        for number in range(servers):
            env = {**TINYGRAD.settings, "FLEXRACK_SIM_SEED": str(number)}
            daemons.append(GpuDaemon("sim", devices // servers, options=("--sim-memory", "256MiB"), env=env))
            self.addCleanup(daemons[-1].stop)
        with GpuAttached(daemons, "tls") as attached:
            return self.losses(devices, attached.env)

    def test_a_network_learns_on_8_and_64_devices_of_1_to_8_servers_as_on_one_device(self):
        alone = self.losses(1, native_env("sim"))
        self.assertLess(alone[-1], 0.6 * alone[0])
        of_one_server = self.on_servers(8, 1)
        for servers in (2, 4, 8):
            self.assertEqual(self.on_servers(8, servers), of_one_server, f"{servers} servers")
        # Sums over devices come in another order than those on one.
        for many in (of_one_server, self.on_servers(64, 8)):
            for one, other in zip(alone, many):
                self.assertAlmostEqual(one, other, delta=1e-6)


if os.environ.get("FLEXRACK_LONG") != "1":
    del ManyDevices
    print("tinygrad on many devices is NOT tried: FLEXRACK_LONG is not 1 (test_cuda_tinygrad.py)", file=sys.stderr)

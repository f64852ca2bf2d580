"""tinygrad on a GPU that is elsewhere: its CUDA device, whose kernels it writes as PTX, finds what numpy finds."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "frameworks"))
from compare import FRAMEWORKS, GpuAttached, GpuDaemon, native_env, tour  # noqa: E402

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

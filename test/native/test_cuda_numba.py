"""numba on a GPU that is elsewhere: kernels it compiles to PTX, linked by the driver, find what numpy finds."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "frameworks"))
from compare import FRAMEWORKS, GpuAttached, GpuDaemon, native_env, tour  # noqa: E402

NUMBA = FRAMEWORKS["numba"]


class CudaNumba(unittest.TestCase):
    maxDiff = None

    def run_in(self, env):
        code, stops, _, text = tour(NUMBA, env)
        self.assertEqual(code, 0, text)
        return stops, text

    def test_tour(self):
        daemon = GpuDaemon("sim", env=NUMBA.settings)
        self.addCleanup(daemon.stop)
        with GpuAttached([daemon], "shm") as attached:
            remote, _ = self.run_in(attached.env)
        natively, said = self.run_in({**native_env("sim"), **NUMBA.settings, "FLEXRACK_SIM_COUNT": "1"})
        self.assertEqual(remote, natively)
        # What was interpreted, by operation, when the process ends.
        self.assertRegex(
            said,
            r"flexrack-sim: [1-9]\d+ instructions of warps, [\d.]+ % of them as machine code\. Interpreted were:\n +[1-9]\d* +[\d.]+ %  [a-z_]+",
        )
        self.assertRegex(said, r"\n +[1-9]\d* +[\d.]+ %  ld\.param\.u64\n")

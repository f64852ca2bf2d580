"""tinygrad on a GPU that is elsewhere: its CUDA device, whose kernels it writes as PTX, finds what numpy finds."""
import os
import shutil
import sys
import unittest
from pathlib import Path

from environments import environment
from servers import BUILD, run
from test_cuda_programs import sim_env

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

PACKAGES = ["tinygrad==0.12.0", "numpy==2.4.6"]
SCRIPT = Path(__file__).resolve().parent / "tinygrad_ops.py"


class CudaTinygrad(unittest.TestCase):
    maxDiff = None

    def run_on(self, env, driver):
        # This version looks for the driver in the system's folders only, unless it is told; and it keeps what it compiled in the user's cache, unless told not to.
        env = {**env, "CUDA": "1", "CUDA_PTX": "1", "CUDA_PATH": str(BUILD / "drivers" / driver / "libcuda.so.1"), "CACHELEVEL": "0", "CC": compiler()}
        code, out, err = run([environment("tinygrad", PACKAGES) / "bin" / "python", SCRIPT], env, preload=True)
        self.assertEqual((code, out.splitlines()[-1:]), (0, ["PASS"]), out[-2000:] + err[-3000:])
        return out

    def test_operations(self):
        daemon = GpuDaemon("sim")
        self.addCleanup(daemon.stop)
        with GpuAttached([daemon], "shm") as attached:
            remote = self.run_on(attached.env, "cuda")
        self.assertEqual(remote, self.run_on(sim_env(), "sim"))


def compiler():
    """Of C: what runs on the CPU is compiled by it."""
    return next(filter(None, map(shutil.which, [os.environ.get("CC", ""), "clang", "clang-15", "clang-14"])), "clang")

"""numba on a GPU that is elsewhere: kernels it compiles to PTX, linked by the driver, find what numpy finds."""
import sys
import unittest
from pathlib import Path

from environments import environment
from servers import run
from test_cuda_programs import sim_env

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

# Without nvJitLink, which makes machine code: then numba has the driver link.
PACKAGES = ["numba-cuda==0.30.4", "numba==0.68.1", "numpy==2.4.6", "cuda-bindings==13.5.0", "cuda-core==1.2.2", "nvidia-nvvm==13.0.88", "nvidia-cuda-nvrtc==13.0.88",
            "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85"]
SCRIPT = Path(__file__).resolve().parent / "numba_tour.py"
# The oldest device that nvvm 13 compiles for.
CAPABILITY = "7.5"


class CudaNumba(unittest.TestCase):
    maxDiff = None

    def run_in(self, env):
        code, out, err = run([environment("numba", PACKAGES) / "bin" / "python", SCRIPT], env, preload=True)
        self.assertEqual((code, out.splitlines()[-1:]), (0, ["PASS"]), out[-2000:] + err[-3000:])
        return out, err

    def test_tour(self):
        daemon = GpuDaemon("sim", env={"FLEXRACK_SIM_CAPABILITY": CAPABILITY})
        self.addCleanup(daemon.stop)
        with GpuAttached([daemon], "shm") as attached:
            remote, _ = self.run_in(attached.env)
        natively, said = self.run_in({**sim_env(capability=CAPABILITY), "FLEXRACK_SIM_COUNT": "1"})
        self.assertEqual(remote, natively)
        # What was interpreted, by operation, when the process ends.
        self.assertRegex(said, r"flexrack-sim: [1-9]\d+ instructions of warps, [\d.]+ % of them as machine code\. Interpreted were:\n +[1-9]\d* +[\d.]+ %  [a-z_]+")
        self.assertRegex(said, r"\n +[1-9]\d* +[\d.]+ %  ld\.param\.u64\n")

"""PyTorch's stock CUDA wheel against the GPU in software, natively and attached: it sees the device, copies exactly,
its kernels are launched, and what a training step sends and waits for does not grow. Its wheel with what it needs is
gigabytes, so it is tried where FLEXRACK_TORCH_PYTHON names a Python that has it (pip install torch==2.14.1);
test_cuda_round_trips.py counts the same of a program of our own everywhere.
"""

import json
import os
import sys
import unittest
from pathlib import Path

from servers import run
from test_cuda_programs import sim_env
from test_cuda_round_trips import Counting

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

PYTHON = os.environ.get("FLEXRACK_TORCH_PYTHON")
SCRIPT = Path(__file__).resolve().parent / "torch_step.py"
# Its kernels are machine code only.
SEEN = "1 Flexrack Simulated GPU (machine code is accepted, NOT computed) (8, 0)"
SIM = {"FLEXRACK_SIM_MACHINE_CODE": "accept", "FLEXRACK_SIM_CAPABILITY": "8.0"}

if PYTHON:

    class CudaTorch(Counting):
        def step(self, env):
            code, out, err = run([PYTHON, SCRIPT], env, preload=True)
            self.assertEqual(code, 0, out[-2000:] + err[-3000:])
            return out.splitlines()

        def test_on_its_own_driver(self):
            self.assertEqual(self.step({**sim_env(), **SIM})[0], SEEN)

        def test_attached(self):
            daemon = GpuDaemon("sim", env=SIM)
            self.addCleanup(daemon.stop)
            with GpuAttached([daemon], "shm") as attached:
                said = self.step({**attached.env, "FLEXRACK_TRACE": str(attached.folder / "trace")})
            self.assertEqual(said[0], SEEN)
            for part, counts in json.loads(said[-1]).items():
                self.assertGreater(counts["launches"], 0, part)
                for what in ("messages", "round trips"):
                    self.within(f"a training step of PyTorch, {part}, {what}", counts[what])
else:
    print(
        "PyTorch's wheel is NOT tried: FLEXRACK_TORCH_PYTHON names no Python that has it (test_cuda_torch.py)",
        file=sys.stderr,
    )

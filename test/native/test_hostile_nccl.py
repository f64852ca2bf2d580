"""A client that says what it likes, at a session with NVIDIA's own NCCL: the cases of test/backend that need it, with
sanitizers. NCCL reads minutes of PTX in each, so FLEXRACK_LONG=1.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "frameworks"))
from compare import FRAMEWORKS, nccl_library  # noqa: E402  (after the path)
from servers import BUILD, COMMON  # noqa: E402

SECONDS = 1800


class HostileNccl(unittest.TestCase):
    def test_cases(self):
        with tempfile.TemporaryDirectory(prefix="flexrack-nccl-") as cache:
            env = {
                **os.environ,
                **COMMON,
                "FLEXRACK_NCCL": str(nccl_library(FRAMEWORKS["nccl"].python())),
                "FLEXRACK_SIM_PROFILE": "blackwell",
                "FLEXRACK_SIM_CACHE": cache,
                "NCCL_IB_DISABLE": "1",
                "NCCL_SOCKET_IFNAME": "lo",
            }
            words = [BUILD / "test" / "test_backend", "--no-skip", "--test-case=live NCCL:*"]
            done = subprocess.run(
                words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS
            )
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        self.assertIn("test cases: 4 | 4 passed | 0 failed", " ".join(done.stdout.split()))


if os.environ.get("FLEXRACK_LONG") != "1":
    del HostileNccl
    print("hostile clients of NCCL are NOT tried: FLEXRACK_LONG is not 1 (test_hostile_nccl.py)", file=sys.stderr)

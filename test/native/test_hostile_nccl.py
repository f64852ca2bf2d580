"""A client that says what it likes, at a session with NCCL: the cases of test/backend that need one, with sanitizers.
With a library that is made up, and with NVIDIA's own, which reads minutes of PTX, so FLEXRACK_LONG=1.
"""

import os
import re
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
CASES = 5
REPORT = re.compile(r"ERROR: AddressSanitizer|runtime error: ")


class HostileNccl(unittest.TestCase):
    def attack(self, library, **settings):
        with tempfile.TemporaryDirectory(prefix="flexrack-nccl-") as cache:
            env = {**os.environ, **COMMON, "FLEXRACK_NCCL": str(library), "FLEXRACK_SIM_CACHE": cache, **settings}
            words = [BUILD / "test" / "test_backend", "--no-skip", "--duration=true", "--test-case=live NCCL:*"]
            done = subprocess.run(
                words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS
            )
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        self.assertNotRegex(done.stdout, REPORT)
        self.assertIn(f"test cases: {CASES} | {CASES} passed | 0 failed", " ".join(done.stdout.split()))

    def test_a_made_up_library(self):
        self.attack(BUILD / "test" / "libmade_up_nccl.so")

    def test_nvidias_own(self):
        self.attack(
            nccl_library(FRAMEWORKS["nccl"].python()),
            FLEXRACK_SIM_PROFILE="blackwell",
            NCCL_IB_DISABLE="1",
            NCCL_SOCKET_IFNAME="lo",
        )


if os.environ.get("FLEXRACK_LONG") != "1":
    del HostileNccl.test_nvidias_own
    print(
        "hostile clients of NVIDIA's NCCL are NOT tried: FLEXRACK_LONG is not 1 (test_hostile_nccl.py)", file=sys.stderr
    )

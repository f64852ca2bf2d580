"""The tests of parts once more, in a build with the sanitizer of threads: only with FLEXRACK_THREADS=1, as it compiles
for minutes (npm run test:long).
"""

import os
import re
import subprocess
import sys
import unittest

from run import NATIVE, build
from servers import BUILD, COMMON

FOLDER = BUILD.parent / "tsan"
# What of each is run. The sanitizer keeps addresses for itself that tests of mapped and managed memory choose, threads
# that PoCL makes are not its to see, and a flood is measured against the clock.
PARTS = {
    "wire": [],
    "client": [],
    "backend": [
        "--source-file=*backend/cuda*",
        "--source-file-exclude=*cuda_overhead*",
        "--test-case-exclude=memory that is mapped*,variables of a module*,nothing of the worker*,a share comes back*",
    ],
    "server": ["--source-file-exclude=*flood_test*"],
}
# What a report needs to be understood: the last accesses of both threads, and both stacks of a lock.
ENV = {
    **COMMON,
    "TSAN_OPTIONS": f"exitcode=66:halt_on_error=0:second_deadlock_stack=1:history_size=4:suppressions={NATIVE / 'test' / 'tsan.supp'}",
}
SECONDS = 1800


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build("tsan", FOLDER, targets=[*(f"test_{part}" for part in PARTS), "flexrack-gpud", "flexrack-lease-keeper"])

    def race(self, part):
        done = subprocess.run(
            [str(FOLDER / "test" / f"test_{part}"), *PARTS[part]],
            env={**os.environ, **ENV},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
        reports = re.findall(r"WARNING: ThreadSanitizer.*?={18}", done.stdout, re.S)
        self.assertEqual(reports, [], f"{len(reports)} reports; the first: {reports[0] if reports else ''}")
        self.assertEqual(done.returncode, 0, done.stdout[-5000:])
        print(f"    test_{part}: no race", file=sys.stderr)


for name in PARTS if os.environ.get("FLEXRACK_THREADS") else ():
    setattr(Threads, f"test_{name}_has_no_race", lambda self, part=name: self.race(part))

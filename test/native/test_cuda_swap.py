"""Leases beyond the memory that a device has (docs/adr/0081): programs take turns on one GPU in software, each with most of
its memory. What they compute is right, and both numbers are exact whatever becomes of them.
"""

import os
import random
import signal
import subprocess
import sys
import time
import unittest

from cuda_programs import NATIVE
from servers import BUILD, sanitizer_runtime, wait_until
from test_cuda_faults import GpuAttached, GpuDaemon

MEBIBYTE = 1 << 20
MEMORY = 64 * MEBIBYTE
SHARE = MEMORY * 3 // 4
TAKEN = SHARE - 4 * MEBIBYTE  # the rest is for a context, and code
OVERHEAD = 2 * MEBIBYTE  # of a session that has a context and a small module, and nothing else: at most
LONG = os.environ.get("FLEXRACK_LONG") == "1"


class Program:
    """turns.py with a lease of its own."""

    def __init__(self, case, daemon, share, **more):
        self.daemon = daemon
        self.attached = GpuAttached([daemon], "tls", share=share, **more)
        case.addCleanup(self.attached.close)
        self.lease = self.attached.leases[0]["lease"]
        env = dict(self.attached.env)
        if BUILD.name == "asan":
            env |= {"LD_PRELOAD": sanitizer_runtime()}
        self.process = subprocess.Popen(
            [sys.executable, str(NATIVE / "test" / "programs" / "turns.py")],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        case.addCleanup(self.end)
        if (said := self.process.stdout.readline()) != "ready\n":
            raise AssertionError(f"it said {said!r}")

    def begin(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().rstrip("\n")

    def ask(self, *words):
        self.begin(*words)
        return self.answer()

    def worker(self):
        return next(one for one in self.daemon.ask("leases")["leases"] if one["lease"] == self.lease)["sessions"][0]["pid"]

    def turns(self):
        """Its numbers: granted and physical bytes, those in the host's memory, and how it is."""
        lease = next(one for one in self.daemon.ask("leases")["leases"] if one["lease"] == self.lease)
        return {"used": lease["devices"][0]["used"], **lease["devices"][0]["turns"]}

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(60)
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()


class CudaSwap(unittest.TestCase):
    def serve(self, most=4 * MEMORY, options=(), **more):
        daemon = GpuDaemon(
            "sim", options=("--sim-memory", str(MEMORY), "--oversubscribe", str(most), *options), grace=8, **more
        )
        self.addCleanup(daemon.stop)
        return daemon

    def share(self, **more):
        return {"memory": SHARE, "oversubscribe": True, **more}

    def device(self, daemon):
        return daemon.ask("devices")["devices"][0]

    def check_ledger(self, daemon, *programs):
        """Physical is never more than there is, and sessions have what the device says."""
        about = self.device(daemon)["oversubscribed"]
        self.assertLessEqual(about["physical"], MEMORY)
        return about

    def test_two_sessions_of_three_quarters_take_turns(self):
        daemon = self.serve()
        one, other = Program(self, daemon, self.share()), Program(self, daemon, self.share())
        for program in (one, other):
            self.assertEqual(program.ask("take", TAKEN), "taken")
            self.check_ledger(daemon)
        self.assertLess(one.turns()["physical"], OVERHEAD)
        self.assertEqual(one.turns()["standing"], "out")
        self.assertGreaterEqual(one.turns()["swapped"], TAKEN)
        for number in range(3):
            for program in (one, other):
                self.assertEqual(program.ask("compute", 3), "computed")
                self.assertEqual(program.ask("graph", 2), "computed")
                self.assertEqual(program.turns()["swapped"], 0)
                self.check_ledger(daemon)
        for program in (one, other):
            self.assertEqual(program.ask("check"), "right")
        for program in (one, other):
            used = program.turns()["used"]
            self.assertEqual(program.ask("give"), "given")
            wait_until(lambda: program.turns()["used"] <= used - TAKEN, 30, "the memory's being given back")
            found = program.turns()
            self.assertEqual((found["swapped"], found["physical"]), (0, found["used"]))
        for program in (one, other):
            program.end()
        wait_until(lambda: not daemon.workers(), 30, "the end of the sessions")
        self.assertEqual([self.device(daemon)[name] for name in ("used",)], [0])
        about = self.device(daemon)["oversubscribed"]
        self.assertEqual((about["physical"], about["swapped"]), (0, 0))


if __name__ == "__main__":
    unittest.main()

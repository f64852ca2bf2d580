"""Leases beyond the memory that a device has (docs/adr/0081): programs take turns on one GPU in software, each with most of
its memory. What they compute is right, and both numbers are exact whatever becomes of them.
"""

import os
import select
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
    """turns.py with a lease of its own, or with that of another one."""

    def __init__(self, case, daemon, share, beside=None, **more):
        self.daemon = daemon
        self.attached = beside.attached if beside else GpuAttached([daemon], "tls", share=share, **more)
        if not beside:
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
        return next(one for one in self.daemon.ask("leases")["leases"] if one["lease"] == self.lease)["sessions"][0][
            "pid"
        ]

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

    def test_kill_9_frees_both_numbers_and_who_waits_comes(self):
        daemon = self.serve()
        one, other = Program(self, daemon, self.share()), Program(self, daemon, self.share())
        self.assertEqual([one.ask("take", TAKEN), other.ask("take", TAKEN)], ["taken", "taken"])
        self.assertEqual(one.turns()["standing"], "out")
        os.kill(one.worker(), signal.SIGKILL)  # its memory is the host's
        wait_until(lambda: len(daemon.workers()) == 1, 30, "its end")
        about = self.device(daemon)["oversubscribed"]
        found = other.turns()
        self.assertEqual((about["physical"], about["swapped"]), (found["physical"], 0))
        self.assertEqual(self.device(daemon)["used"], found["used"])
        third = Program(self, daemon, self.share())
        self.assertEqual(other.ask("hold"), "held")  # from now on it cannot leave
        third.begin("take", TAKEN)
        wait_until(lambda: third.turns()["standing"] != "in", 30, "its waiting")
        os.kill(other.worker(), signal.SIGKILL)
        self.assertEqual(third.answer(), "taken")
        self.assertEqual(third.ask("check"), "right")
        wait_until(lambda: len(daemon.workers()) == 1, 30, "the end of the others")
        found = third.turns()
        self.assertEqual(self.device(daemon)["oversubscribed"]["physical"], found["physical"])
        self.assertEqual(self.device(daemon)["used"], found["used"])

    def test_who_does_not_come_to_its_turn_is_told_and_no_more_are_let_in(self):
        daemon = self.serve()
        one, other = Program(self, daemon, self.share()), Program(self, daemon, self.share())
        self.assertEqual(one.ask("take", TAKEN), "taken")
        self.assertEqual(one.ask("hold"), "held")
        other.begin("take", TAKEN)
        wait_until(lambda: other.turns()["standing"] == "thrashes", 60, "its being told")
        self.assertTrue(self.device(daemon)["oversubscribed"]["is_thrashing"])
        with self.assertRaisesRegex(RuntimeError, "do not come to their turns"):
            daemon.lease(**self.share())
        # It is asked to leave all the while, and what lets it go is heard.
        self.assertEqual(one.ask("release"), "released")
        self.assertEqual(other.answer(), "taken")
        self.assertEqual([one.ask("check"), other.ask("check")], ["right", "right"])
        self.assertFalse(self.device(daemon)["oversubscribed"]["is_thrashing"])

    def test_a_session_whose_memory_does_not_come_back_fails_and_gives_all_of_it_back(self):
        # Of two blocks the second cannot leave, and the first does not arrive again: copies one and two went out.
        daemon = self.serve(options=("--sim-fault", "unmap:2,copy:3"))
        one, other = Program(self, daemon, self.share()), Program(self, daemon, self.share())
        self.assertEqual(one.ask("take", TAKEN), "taken")
        other.begin("take", TAKEN)
        wait_until(lambda: "its memory is lost between host and device" in daemon.said(), 60, "the failure")
        self.assertRegex(one.ask("compute", 1), "CUDA_ERROR_ECC_UNCORRECTABLE")
        self.assertRegex(one.ask("check"), "CUDA_ERROR_ECC_UNCORRECTABLE")
        self.assertEqual(one.turns()["swapped"], 0)
        one.end()
        self.assertEqual(other.answer(), "taken")
        self.check_ledger(daemon)
        other.end()
        wait_until(lambda: not daemon.workers(), 30, "the end of the sessions")
        about = self.device(daemon)
        self.assertEqual(about["used"], 0)
        self.assertEqual((about["oversubscribed"]["physical"], about["oversubscribed"]["swapped"]), (0, 0))

    def test_the_processes_of_one_lease_do_not_keep_others_out(self):
        daemon = self.serve()
        one = Program(self, daemon, self.share())
        for _ in range(31):
            Program(self, daemon, None, beside=one)
        with self.assertRaisesRegex(AssertionError, "it said ''"):
            Program(self, daemon, None, beside=one)
        self.assertIn("a lease that takes turns has at most 32 processes at one time", daemon.said())
        other = Program(self, daemon, self.share())
        self.assertEqual(other.ask("compute", 0), "computed")

    def test_leases_that_keep_their_memory_have_it_to_the_byte(self):
        daemon = self.serve()
        one = Program(self, daemon, self.share())
        self.assertEqual(one.ask("take", TAKEN), "taken")
        with self.assertRaisesRegex(RuntimeError, "asked for"):
            daemon.lease(memory=MEMORY // 2)  # beside it the other would never fit
        kept = Program(self, daemon, {"memory": MEMORY // 4, "compute": 0.1})  # its own, while the other stays
        self.assertEqual(one.turns()["swapped"], 0)
        free = int(kept.ask("free"))
        self.assertIn("CUDA_ERROR_OUT_OF_MEMORY", kept.ask("take", free + 1))
        alone = self.serve(most=0)
        with self.assertRaisesRegex(RuntimeError, "no memory beyond"):
            alone.lease(**self.share())

    if LONG:

        def test_four_of_three_quarters_each_over_many_turns(self):
            """What it takes is what it computes and the bytes over the bandwidth, and little more: printed, as the machine's
            load is in it.
            """
            gigabytes = 0.5
            daemon = self.serve(options=("--sim-bandwidth", str(gigabytes)))
            programs = [Program(self, daemon, self.share()) for _ in range(4)]
            for program in programs:
                self.assertEqual(program.ask("take", TAKEN), "taken")
            begun = time.monotonic()
            counts = [program.turns()["count"] for program in programs]
            for program in programs:
                program.begin("compute", 3000)
            left, most = set(range(4)), 0
            while left:
                about = self.check_ledger(daemon)
                most = max(most, about["physical"])
                sessions = [program.turns() for program in programs]
                for found in sessions:
                    # Both together are what was granted, in whole steps.
                    self.assertGreaterEqual(found["physical"] + found["swapped"], found["used"])
                    self.assertLessEqual(found["physical"] + found["swapped"], found["used"] + 4 * MEBIBYTE)
                for number in list(left):
                    readable, _, _ = select.select([programs[number].process.stdout], [], [], 0.02)
                    if readable:
                        self.assertEqual(programs[number].answer(), "computed")
                        left.discard(number)
            lasted = time.monotonic() - begun
            turns = sum(program.turns()["count"] for program in programs) - sum(counts)
            moved = 2 * turns * TAKEN
            print(f"    {lasted:.1f} s, {turns} turns, {moved / gigabytes / 1e9:.1f} s of it by the bandwidth")
            self.assertGreater(turns, 8)
            self.assertGreater(most, TAKEN)
            for program in programs:
                self.assertEqual(program.ask("check"), "right")


if __name__ == "__main__":
    unittest.main()

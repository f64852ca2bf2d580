"""Collectives that the servers carry (docs/adr/0073), by NVIDIA's own NCCL on GPUs in software: how many bytes pass by
the application, and what becomes of them when a server is killed. Values: frameworks/nccl_tour.py. Minutes each, so
FLEXRACK_LONG=1, with the build that users get.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "frameworks"), str(HERE.parent.parent / "native" / "test" / "gpu")]
from compare import FRAMEWORKS, nccl_library  # noqa: E402  (after the path)
from networks import Network, may_make_networks  # noqa: E402
from rack import GpuAttached, GpuDaemon  # noqa: E402
from servers import BUILD  # noqa: E402

SECONDS = 900
MIB, TIMES = 4, 4


def library():
    return nccl_library(FRAMEWORKS["nccl"].python())


class Collectives(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="flexrack-nccl-"))

    def daemon(self, number, devices=1, **more):
        """Those of different numbers take each other for machines of their own."""
        env = {
            "FLEXRACK_SIM_PROFILE": "blackwell",
            "FLEXRACK_SIM_CACHE": f"{self.folder}/cache",
            "NCCL_HOSTID": f"machine-{number}",
            "NCCL_IB_DISABLE": "1",
        }
        made = GpuDaemon("sim", devices, options=("--nccl", str(library()), *more.pop("options", ())), env=env, **more)
        self.stack.callback(made.stop)
        return made

    def attach(self, daemons, transport):
        self.attached = self.stack.enter_context(GpuAttached(daemons, transport))
        attached = self.attached
        env = {**attached.env, "LD_PRELOAD": str(BUILD / "drivers" / "nccl" / "libnccl.so.2")}
        env["LD_LIBRARY_PATH"] += f":{library().parent}"
        return env

    def ranks(self, env, mib, times, prefix=(), name="id"):
        command = [*prefix, str(FRAMEWORKS["nccl"].python()), str(HERE / "frameworks" / "nccl_rank.py")]
        started = []
        for rank in range(2):
            started.append(
                subprocess.Popen(
                    [*command, str(rank), f"{self.folder}/{name}", str(mib), str(times)],
                    env=env,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
            self.stack.callback(started[-1].kill)
        return started

    def compute(self, env, name, prefix=()):
        for one in self.ranks(env, MIB, TIMES, prefix, name):
            text = one.communicate(timeout=SECONDS)[0]
            self.assertEqual((one.returncode, text.splitlines()[-1:]), (0, [f"reduces {TIMES}"]), text)

    def test_two_processes_at_one_daemon(self):
        self.compute(self.attach([self.daemon(0, devices=2)], "shm"), "one")

    def test_what_passes_by_the_application_is_less_than_a_hundredth(self):
        if not may_make_networks():
            self.skipTest("needs root: the application is in a network namespace")
        network = Network()
        self.stack.callback(network.close)
        trusted = {"address": network.here, "options": ("--trusted-fabric",)}
        env = self.attach([self.daemon(0, **trusted), self.daemon(1, **trusted)], "tls")

        def passed():
            counters = Path(f"/sys/class/net/{network.outer}/statistics")
            return sum(int((counters / f"{way}_bytes").read_text()) for way in ("rx", "tx"))

        before = passed()
        self.compute(env, "bytes", network.prefix)
        share = (passed() - before) / (2 * TIMES * MIB << 20)
        print(f"{share:.2%} of the payload went by way of the application", file=sys.stderr)
        self.assertLess(share, 0.01)

    def test_a_killed_daemon_is_an_error_at_the_other_rank_and_the_next_lease_works(self):
        stays, goes = self.daemon(0), self.daemon(1, grace=2)
        ranks = self.ranks(self.attach([stays, goes], "tls"), MIB, 0)
        for one in ranks:
            self.assertEqual([one.stdout.readline().strip() for _ in range(2)], ["meets", "computes"])
        time.sleep(1)
        killed = time.time()
        workers = goes.workers()
        goes.process.kill()
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        text = ranks[0].communicate(timeout=SECONDS)[0]
        self.assertEqual(text.split()[:1], ["fails"], text)
        seconds = float(text.split()[1]) - killed
        print(f"the other rank had its error after {seconds:.1f} s: {text}", file=sys.stderr)
        self.assertEqual(text.split()[2], "6", text)  # ncclRemoteError
        self.assertIn("fails", ranks[1].communicate(timeout=SECONDS)[0])
        self.attached.close()
        self.compute(self.attach([stays, self.daemon(2)], "shm"), "next")


if os.environ.get("FLEXRACK_LONG") != "1":
    del Collectives
    print("collectives are NOT tried: FLEXRACK_LONG is not 1 (test_cuda_nccl.py)", file=sys.stderr)

"""Programs that two servers carry out at the same time (docs/adr/0080): real processes, the GPU in software. What they
print is what they print on one, whichever server is killed.
"""

import os
import random
import signal
import sys
import threading
import time
import unittest
from pathlib import Path

from cuda_programs import NATIVE, build
from servers import run, wait_until
from test_cuda_faults import Client, GpuAttached, GpuDaemon

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import native_env  # noqa: E402

MEBIBYTE = 1 << 20
STOP, PRIMARY = {"on_mismatch": "stop"}, {"on_mismatch": "primary"}
LONG = os.environ.get("FLEXRACK_LONG") == "1"
# Without a kernel that writes the program's own memory, or that computes otherwise each time.
PROGRAMS = (
    "blocking_copies",
    "callbacks",
    "cnn_step",
    "cooperative",
    "copies",
    "graph_launches",
    "graph_memory",
    "graphs",
    "histogram",
    "large_copies",
    "many_launches",
    "matmul_tiled",
    "mlp",
    "reduction",
    "scan",
    "separate",
    "streams_events",
    "transpose",
    "two_threads",
    "vector_add",
)


class Replicas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        faults = build(sources=NATIVE / "test" / "cuda_fault")
        cls.load = faults["load"]["static"]
        cls.programs = build(
            names=None if LONG else ("vector_add", "streams_events", "pinned_mapped", "graph_conditions")
        )

    def serve(self, *options, count=2, transport="auto", seeds=("1", "2")):
        """Two daemons whose GPUs are alike; `options`: of the second one besides."""
        daemons = []
        for number in range(count):
            more = options if number == 1 else ()
            daemon = GpuDaemon(
                "sim",
                options=("--sim-memory", str(1 << 30), "--sim-seed", seeds[number], *more),
            )
            self.addCleanup(daemon.stop)
            daemons.append(daemon)
        return daemons

    def attach(self, daemons, transport="tls", mirror=STOP, **more):
        attached = GpuAttached(daemons, transport, mirror=mirror, **more)
        self.addCleanup(attached.close)
        attached.report = attached.folder / "mirror"
        attached.env["FLEXRACK_MIRROR_REPORT"] = str(attached.report)
        return attached

    def said(self, attached):
        return attached.report.read_text().splitlines() if attached.report.exists() else []

    def alone(self, name):
        status, out, errors = run([self.programs[name]["static"]], native_env("sim"), preload=True)
        self.assertEqual(status, 0, out[-500:] + errors[-2000:])
        return out

    def test_both_carry_out_the_same_and_nobody_notices(self):
        daemons = self.serve()
        for transport in ("tcp", "shm"):
            attached = self.attach(daemons, transport)
            for name in ("vector_add", "streams_events"):
                status, out, errors = run([self.programs[name]["static"]], attached.env, preload=True)
                self.assertEqual((status, out), (0, self.alone(name)), errors[-2000:])
            self.assertEqual(self.said(attached), [])
            attached.close()

    def kill_one(self, transport, victim, how):
        daemons = self.serve()
        attached = self.attach(daemons, transport)
        client = Client(self, [self.load, "0", str(MEBIBYTE)], attached.env)
        self.assertEqual(client.line(), "ready")
        workers = daemons[victim].workers()
        self.assertEqual([len(daemon.workers()) for daemon in daemons], [1, 1], "both have a session")
        if how == "worker":
            os.kill(workers[0], signal.SIGKILL)
        else:
            daemons[victim].end_broker(signal.SIGKILL)
            os.kill(workers[0], signal.SIGKILL)
        wait_until(lambda: self.said(attached), 30, "word of the loss")
        time.sleep(0.5)
        status, last, errors = client.finish(60)
        self.assertEqual((status, last.split()[0]), (0, "rounds"), errors)
        self.assertIn(f"node-{victim + 1} is lost", errors)
        self.assertIn(f"goes on with node-{2 - victim} alone", errors)
        self.assertEqual(len(self.said(attached)), 1)
        wait_until(lambda: not daemons[1 - victim].workers(), 30, "the end of the session")

    def test_the_loss_of_the_first_costs_nothing(self):
        self.kill_one("tls", 0, "worker")

    def test_the_loss_of_the_second_costs_nothing(self):
        self.kill_one("tcp", 1, "broker")

    def test_a_wrong_bit_is_found_when_it_is_read(self):
        daemons = self.serve("--sim-fault", "flip:3")
        attached = self.attach(daemons)
        status, out, errors = run([self.load, "20", str(MEBIBYTE)], attached.env, preload=True)
        self.assertEqual(status, 5, out + errors)
        self.assertIn("after 2", out)  # in the third round: nothing wrong has been used
        self.assertRegex(errors, r"node-1 and node-2 differ in copy 3 to the program, 1048576 bytes")
        self.assertRegex(self.said(attached)[0], r"^mismatch: .*hash [0-9a-f]{16} from node-1, hash [0-9a-f]{16} from")
        attached.close()
        attached = self.attach(daemons, mirror=PRIMARY)
        status, out, errors = run([self.load, "20", str(MEBIBYTE)], attached.env, preload=True)
        self.assertEqual((status, out.split()[-2:]), (0, ["rounds", "20"]), errors)
        self.assertEqual([line.split(":")[0] for line in self.said(attached)], ["mismatch", "lost"])

    def test_what_cannot_be_mirrored_is_refused_by_name(self):
        daemons = self.serve("--sim-capability", "8.0")
        attached = self.attach(daemons)
        status, out, errors = run([self.load, "1"], attached.env, preload=True)
        self.assertEqual(status, 5, out + errors)
        self.assertIn("programs are not mirrored on node-1 and node-2, which have", errors)
        daemons = self.serve()
        attached = self.attach(daemons)
        status, out, errors = run([self.programs["pinned_mapped"]["static"]], attached.env, preload=True)
        self.assertNotEqual(status, 0)
        self.assertIn("has no memory of the program that kernels use", errors)
        self.assertIn("cudaErrorNotSupported", out + errors)
        status, out, errors = run([self.programs["graph_conditions"]["static"]], attached.env, preload=True)
        self.assertNotEqual(status, 0)
        self.assertIn("has no conditions of graphs, whose numbers each driver chooses", errors)

    def test_whenever_either_is_killed_programs_print_the_same(self):
        names, kills = (PROGRAMS, 6) if LONG else (("streams_events",), 2)
        chance = random.Random(80)
        daemons = self.serve()
        for name in names:
            program, alone = self.programs[name]["static"], self.alone(name)
            attached = self.attach(daemons, chance.choice(("tcp", "tls", "shm")), share={"memory": 256 * MEBIBYTE})
            begun = time.monotonic()
            status, out, errors = run([program], attached.env, preload=True)
            took = time.monotonic() - begun
            self.assertEqual((status, out), (0, alone), name + errors[-2000:])
            for kill in range(kills):
                victim, after = kill % 2, chance.uniform(0, took)
                with self.subTest(program=name, victim=victim, after=after):
                    killer = threading.Timer(after, self.kill_workers, [daemons[victim]])
                    killer.start()
                    status, out, errors = run([program], attached.env, preload=True, seconds=120)
                    killer.cancel()
                    killer.join()
                    self.assertEqual((status, out), (0, alone), errors[-2000:])
            for daemon in daemons:
                wait_until(lambda at=daemon: not at.workers(), 60, "the end of all sessions")
            attached.close()

    @staticmethod
    def kill_workers(daemon):
        for worker in daemon.workers():
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                pass


if __name__ == "__main__":
    unittest.main()

"""What CUDA programs send and wait for, counted: questions that can be answered here do not travel, and the numbers in
round_trips.json only go down. A client writes with FLEXRACK_TRACE what it sends and waits for (native/client/trace.h).
"""

import json
import os
import sys
import unittest
from collections import Counter
from pathlib import Path

from cuda_programs import build
from servers import run
from traces import counted, messages, round_trips

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

BUDGET = json.loads((Path(__file__).resolve().parent / "round_trips.json").read_text())


class Counting(unittest.TestCase):
    maxDiff = None

    def attached(self, **sim):
        daemon = GpuDaemon("sim", env={f"FLEXRACK_SIM_{name.upper()}": value for name, value in sim.items()})
        self.addCleanup(daemon.stop)
        attached = GpuAttached([daemon], "shm")
        self.addCleanup(attached.close)
        return attached

    def trace(self, attached, *command):
        """(what it printed, what it sent and waited for) of a program that ends well."""
        file = attached.folder / "trace"
        file.unlink(missing_ok=True)
        code, out, err = run(command, {**attached.env, "FLEXRACK_TRACE": str(file)}, preload=True)
        self.assertEqual(code, 0, out[-2000:] + err[-2000:])
        return out, counted(file.read_text())

    def within(self, name, number):
        """As in the file: more is too much, and what became less is written down, so that it stays."""
        self.assertEqual(
            number,
            BUDGET[name],
            f"{name}: {'more than the budget' if number > BUDGET[name] else 'less than the budget, which now goes down'} (round_trips.json)",
        )


class CudaRoundTrips(Counting):
    @classmethod
    def setUpClass(cls):
        cls.programs = build(names=["cnn_step", "vector_add"])

    def steps(self, attached, count, *words):
        return self.trace(attached, self.programs["cnn_step"]["static"], count, *words)[1]

    def test_to_the_first_launch(self):
        _, lines = self.trace(self.attached(), self.programs["vector_add"]["static"])
        self.within(
            "from cuInit to the first launch of vector_add", round_trips(lines[: lines.index(("send", "Launch"))])
        )

    def test_a_training_step(self):
        attached = self.attached()
        two, four = (self.steps(attached, count) for count in (2, 4))
        self.assertEqual(two.count(("send", "Launch")), 12)
        self.within("a training step of cnn_step, messages", (messages(four) - messages(two)) // 2)
        self.within("a training step of cnn_step, round trips", (round_trips(four) - round_trips(two)) // 2)

    def test_questions_stay_here(self):
        # 716 attributes and 254 times the current device a step, and what contexts, streams, pointers and kernels are:
        # only how many blocks fit is asked of the server, and that once.
        attached = self.attached()
        quiet, asking = (Counter(self.steps(attached, 3, *words)) for words in (["quiet"], []))
        self.assertEqual(asking - quiet, Counter({("call", "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags"): 1}))
        self.assertEqual(quiet - asking, Counter())

"""Ranks are really bound: what the kernel says of them, not what was asked for."""

import json
import os
import shutil
import unittest
from unittest import mock

from flexrack_node.rank import binding
from run_support import Rack

SCRIPT = """
import json, os
print("BOUND " + json.dumps([sorted(os.sched_getaffinity(0)), os.environ.get("OMP_NUM_THREADS"), os.environ.get("CUDA_VISIBLE_DEVICES")]), flush=True)
"""
CPUS = sorted(os.sched_getaffinity(0))


def reported(rack, run, rank=0, node="node-1"):
    line = next(line for line in rack.log(run, rank, node).splitlines() if line.startswith("BOUND "))
    return json.loads(line[6:])


class BindingTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(1)
        self.addCleanup(self.rack.close)
        self.rack.script(SCRIPT)

    def record(self, run):
        return json.loads((self.rack.folder / "node-1" / "runs" / run / "attempts" / "1" / "rank-0.json").read_text())

    def test_a_rank_runs_on_its_cpus_and_sees_the_chosen_gpus_alone(self):
        last = CPUS[-1]
        run = self.rack.start(
            placed=[{"gpus": ["GPU-b", "GPU-a"], "cpus": str(last), "memory": []}], env={"CUDA_VISIBLE_DEVICES": "7"}
        )
        self.assertEqual(self.rack.finish(run)["result"]["status"], "finished")
        self.assertEqual(reported(self.rack, run), [[last], "1", "GPU-b,GPU-a"])
        self.assertEqual(
            self.record(run)["bound"],
            {"cpus": str(last), "memory": "not bound: none was chosen", "gpus": ["GPU-b", "GPU-a"]},
        )

    def test_no_gpu_is_visible_where_none_was_chosen_for_it(self):
        run = self.rack.start(placed=[{"gpus": [], "cpus": None, "memory": []}], env={"OMP_NUM_THREADS": "7"})
        self.assertEqual(self.rack.finish(run)["result"]["status"], "finished")
        self.assertEqual(reported(self.rack, run), [CPUS, "7", ""])

    def test_nothing_changes_where_nothing_was_chosen(self):
        run = self.rack.start(env={"CUDA_VISIBLE_DEVICES": "7"})
        self.assertEqual(self.rack.finish(run)["result"]["status"], "finished")
        self.assertEqual([reported(self.rack, run)[0], reported(self.rack, run)[2]], [CPUS, "7"])
        self.assertNotIn("bound", self.record(run))

    def test_cpus_that_are_not_there_are_told_and_the_rank_runs(self):
        run = self.rack.start(placed=[{"gpus": [], "cpus": "1000", "memory": []}])
        self.assertEqual(self.rack.finish(run)["result"]["status"], "finished")
        self.assertEqual(reported(self.rack, run)[0], CPUS)
        self.assertTrue(self.record(run)["bound"]["cpus"].startswith("not bound: "))

    def test_memory_is_bound_by_numactl_where_that_works(self):
        """Whether it is installed here or not: both have to be told as they are. The rank runs in either case."""
        run = self.rack.start(placed=[{"gpus": [], "cpus": str(CPUS[0]), "memory": [0]}])
        self.assertEqual(self.rack.finish(run)["result"]["status"], "finished")
        memory = self.record(run)["bound"]["memory"]
        if not shutil.which("numactl"):
            self.assertEqual(memory, "not bound: no numactl")
        else:
            self.assertRegex(memory, r"^(NUMA 0 by numactl|not bound: .+)$")

    def test_a_numactl_that_is_refused_is_told(self):
        folder = self.rack.folder / "bin"
        folder.mkdir()
        program = folder / "numactl"
        for text, expected in (
            (
                '#!/bin/sh\necho "set_mempolicy: Operation not permitted" >&2\nexit 1\n',
                ([], "not bound: set_mempolicy: Operation not permitted"),
            ),
            (
                '#!/bin/sh\n[ "$1" = --membind=0,2 ] && shift && exec "$@"\n',
                ([str(program), "--membind=0,2", "--"], "NUMA 0,2 by numactl"),
            ),
        ):
            program.write_text(text)
            program.chmod(0o755)
            with mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                self.assertEqual(binding.memory_words([0, 2]), expected)

    def test_threads_are_a_share_of_the_cpus_that_ranks_have_in_common(self):
        placed = [{"cpus": "0-7"}, {"cpus": "0-7"}, {"cpus": "8-15"}, {"cpus": None}]
        self.assertEqual([binding.threads_of(placed, local, 1) for local in (0, 1, 2)], [4, 4, 8])
        self.assertEqual(binding.threads_of(placed, 2, 16), 1)

"""Stacks of a run under Slurm: who asks on the login node and who answers on the job's nodes, by files. The real Slurm
is in test/integration/train-slurm.test.ts.
"""

import json
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import write
from flexrack_node.run.files import RunFolder
from flexrack_node.slurm import stacks
from flexrack_node.slurm.job import SlurmJob

RUNNING = {"job": "17", "state": "RUNNING", "reason": None}


class SlurmStacks(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = RunFolder(Path(place.name) / "digits-1")
        self.folder.path.mkdir()
        self.folder.write("spec", {"run": "digits-1", "node": "login", "slurm": {"nodes": 2}})
        self.folder.write("gang", {"nodes": ["c1", "c2"]})
        for index, node in enumerate(["c1", "c2"]):
            path = self.folder.path / "members" / str(index)
            (path / "attempts" / "3").mkdir(parents=True)
            write("run.spec", path / "spec.json", {"node": node})
        self.members = SlurmJob(self.folder).members()
        self.see(RUNNING)

    def see(self, seen):
        patch = mock.patch.object(SlurmJob, "look", return_value=seen)
        patch.start()
        self.addCleanup(patch.stop)

    def dumps(self, take):
        for name, value in (("dump", take), ("_PATIENCE", 2.0), ("_TICK", 0.01), ("check_caller", lambda: None)):
            patch = mock.patch.object(stacks, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def ask(self, rank=None):
        return stacks.stacks(
            SlurmJob(self.folder), {"run": "digits-1", "rank": rank}, mock.create_autospec(Channel, instance=True)
        )

    def test_a_node_that_does_not_answer_and_one_that_cannot_are_named_beside_the_ranks_of_the_others(self):
        self.dumps(lambda member, attempt, rank: [{"rank": 0, "node": member.spec()["node"], "attempt": attempt}])
        stacks.begin_answering(self.members[0])
        reported = self.ask()
        self.assertEqual((reported["attempt"], [one["node"] for one in reported["ranks"]]), (3, ["c1"]))
        self.assertEqual(reported["failed"], [{"node": "c2", "message": "it did not answer within 2 s"}])

        def fails(*_):
            raise ValueError("torn")

        with mock.patch.object(stacks, "dump", fails):
            with self.assertRaises(NodeError) as caught:
                self.ask()
        self.assertEqual(caught.exception.code, "NODE_UNREACHABLE")
        self.assertEqual(self.ask()["attempt"], 3, "it answers again after that")

    def test_a_half_written_request_is_read_again_and_two_who_ask_get_an_answer_each(self):
        self.dumps(lambda member, attempt, rank: [{"rank": rank}])
        for member in self.members:
            stacks.begin_answering(member)
        (self.members[0].path / "stacks.json").write_text('{"number": "half')
        found = {}
        threads = [threading.Thread(target=lambda rank=rank: found.update({rank: self.ask(rank)})) for rank in (4, 5)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(
            {rank: [one["rank"] for one in reported["ranks"]] for rank, reported in found.items()},
            {4: [4, 4], 5: [5, 5]},
        )

    def test_an_older_or_newer_flexrack_asks(self):
        """The supervisor lives as long as the job, and another version may look at it."""
        self.dumps(lambda member, attempt, rank: [{"rank": rank}])
        for member in self.members:
            stacks.begin_answering(member)
        requested, reported = self.members[0].path / "stacks.json", self.members[0].path / "stacks-reported.json"
        requested.write_text('{"schema": 99, "number": "newer", "what": "else"}')
        time.sleep(0.6)
        self.assertIsNone(json.loads(reported.read_text()), "it is not guessed what that means")
        requested.write_text('{"number": "older", "rank": 4}')
        until = time.monotonic() + 20
        while not json.loads(reported.read_text() or "null") and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(
            json.loads(reported.read_text()), {"schema": 1, "number": "older", "attempt": 3, "ranks": [{"rank": 4}]}
        )
        reported.write_text('{"schema": 99, "number": "x"}')
        self.dumps(lambda member, attempt, rank: time.sleep(60))
        with self.assertRaises(NodeError) as caught:
            self.ask()
        self.assertEqual(caught.exception.code, "NEWER_VERSION")

    def test_a_job_without_processes_is_told_with_its_state(self):
        for seen, said in (
            (
                {"job": "17", "state": "PENDING", "reason": "Priority"},
                "job 17 of digits-1 waits in Slurm (Priority): no rank of it runs yet",
            ),
            (
                {"job": None, "state": "PENDING", "reason": None},
                "the job of digits-1 waits in Slurm: no rank of it runs yet",
            ),
            (
                {"job": "17", "state": "SUSPENDED", "reason": None},
                "job 17 of digits-1 is suspended in Slurm: its ranks do not run",
            ),
        ):
            self.see(seen)
            with self.assertRaises(NodeError) as caught:
                self.ask()
            self.assertEqual((caught.exception.code, caught.exception.message), ("CONFLICT", said))
        self.see(None)
        self.folder.write("result", {"status": "failed"})
        with self.assertRaises(NodeError) as caught:
            self.ask()
        self.assertEqual(caught.exception.message, "digits-1 is over (failed): no rank of it is alive")

    def test_a_job_that_has_begun_without_a_part_of_the_run_has_no_rank_yet(self):
        for member in self.members:
            (member.path / "spec.json").unlink()
        with self.assertRaises(NodeError) as caught:
            self.ask()
        self.assertIn("has just begun", caught.exception.message)

    def test_what_is_asked_and_answered_is_for_the_user_alone(self):
        stacks.begin_answering(self.members[0])
        for name in ("stacks.json", "stacks-reported.json"):
            self.assertEqual((self.members[0].path / name).stat().st_mode & 0o777, 0o600)
            self.assertIsNone(json.loads((self.members[0].path / name).read_text()))

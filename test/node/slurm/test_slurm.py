"""Slurm under a run: what its programs print, how a run ended, where its leader listens. The real Slurm is in
test/integration/train-slurm.test.ts.
"""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.slurm import commands, step
from flexrack_node.slurm.verdict import after_signal, judge

SPEC = {"run": "digits-1", "node": "login", "created": 50.0, "tracking": None, "slurm": {"nodes": 2, "job": "17"}}
RANK = {
    "kind": "rank",
    "node": "c2",
    "rank": 1,
    "exit": 17,
    "signal": None,
    "at": 90.0,
    "message": "no such digit",
    "lines": ["no such digit"],
    "others": [0],
}


def seen(state, **more):
    return {
        "job": "17",
        "state": state,
        "reason": None,
        "start": 60.0,
        "submitted": 55.0,
        "ended": 100.0,
        "partition": "main",
        "nodes": "c[1-2]",
        "by": None,
        "exit": None,
        "source": "squeue",
        **more,
    }


def leader(status, cause=None, **more):
    exits = {"finished": 0, "stopped": 130}
    attempts = [{"attempt": 1, "status": status, "started": 61.0, "ended": 95.0, "cause": cause}]
    return {
        "run": "digits-1",
        "status": status,
        "exit": exits.get(status, 1),
        "cause": cause,
        "attempts": attempts,
        "started": 61.0,
        "ended": 96.0,
        "duration": 35.0,
        "recorded": True,
        "outputs": ["model.onnx"],
        **more,
    }


class Queue(unittest.TestCase):
    def test_squeue_is_read_with_its_reason_and_its_estimate(self):
        found = commands.read_squeue(
            "17|PENDING|2026-01-31T12:00:00|2026-01-31T11:00:00|2026-01-31T13:00:00|gpu||Nodes required for job are DOWN|DRAINED\n"
        )
        self.assertEqual(
            (found["job"], found["state"], found["partition"], found["nodes"]), ("17", "PENDING", "gpu", "")
        )
        self.assertEqual(found["reason"], "Nodes required for job are DOWN|DRAINED")
        self.assertEqual(found["start"] - found["submitted"], 3600.0)
        self.assertIsNone(found["ended"], "of a job that waits, it is an estimate")
        self.assertIsNone(commands.read_squeue("17|PENDING|N/A|N/A|N/A|gpu||None")["start"])
        self.assertIsNone(commands.read_squeue("nonsense"))

    def test_a_job_is_found_by_its_name_and_a_task_by_its_number_in_the_newest_array(self):
        with tempfile.TemporaryDirectory() as folder:
            squeue = Path(folder) / "squeue"
            squeue.write_text("#!/bin/sh\nprintf '9\\n17\\n9_3\\n12_3\\n12_30\\n13_4\\nnonsense\\n'\n")
            squeue.chmod(0o755)
            self.assertEqual(commands.find("digits", folder), "17")
            self.assertEqual(commands.find("digits", folder, 3), "12_3")
            self.assertIsNone(commands.find("digits", folder, 5))

    def test_a_task_of_an_array_knows_the_number_that_all_of_slurms_programs_take(self):
        with mock.patch.dict(
            os.environ, {"SLURM_JOB_ID": "14", "SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "3"}
        ):
            self.assertEqual(step.own_job(), "12_3")
        with mock.patch.dict(os.environ, {"SLURM_JOB_ID": "14"}):
            self.assertEqual(step.own_job(), "14")

    def test_sacct_is_read_with_who_cancelled(self):
        found = commands.read_sacct(
            f"17|CANCELLED by {os.getuid()}|2026-01-31T12:00:00|2026-01-31T11:00:00|2026-01-31T13:00:00|gpu|c[1-2]|0:15\n"
        )
        self.assertEqual(
            (found["state"], found["by"], found["exit"], found["source"]),
            ("CANCELLED", commands.user_name(str(os.getuid())), "0:15", "sacct"),
        )
        self.assertEqual(
            commands.read_sacct("17|TIMEOUT|Unknown|2026-01-31T11:00:00|Unknown|gpu|None assigned|0:0")["nodes"], ""
        )
        self.assertIsNone(commands.read_sacct("Slurm accounting storage is disabled\n"))

    def test_programs_that_are_not_there_are_named(self):
        with self.assertRaises(commands.NodeError) as caught:
            commands.call(["squeue"], "/nowhere")
        self.assertEqual(caught.exception.code, "NODE_UNFIT")


class Verdict(unittest.TestCase):
    def test_what_slurm_ended_is_told_by_slurms_own_state(self):
        for state in ("TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"):
            for known in (None, leader("stopped", provisional=True)):
                result = judge(SPEC, seen(state), known, False, [])
                self.assertEqual(
                    (result["status"], result["exit"], result["cause"]["kind"]), ("failed", 1, "slurm"), state
                )
                self.assertIn(f"({state})", result["cause"]["message"])
                self.assertEqual(result["slurm"], {"job": "17", "state": state, "source": "squeue"})

    def test_the_rank_that_slurm_killed_stays_named(self):
        result = judge(SPEC, seen("OUT_OF_MEMORY"), leader("failed", RANK), False, [])
        self.assertEqual(
            (result["cause"]["rank"], result["cause"]["node"], result["cause"]["lines"]), (1, "c2", ["no such digit"])
        )
        self.assertIn("OUT_OF_MEMORY", result["cause"]["message"])

    def test_what_the_ranks_wrote_stands_where_slurm_did_not_end_them(self):
        self.assertEqual(judge(SPEC, seen("COMPLETED"), leader("finished"), False, [])["status"], "finished")
        self.assertEqual(judge(SPEC, seen("FAILED"), leader("failed", RANK), False, [])["cause"], RANK)
        self.assertEqual(
            judge(SPEC, seen("CANCELLED"), leader("finished"), False, [])["status"],
            "finished",
            "cancelled while it was recorded",
        )
        self.assertEqual(judge(SPEC, None, leader("finished"), False, [])["slurm"]["source"], "records")

    def test_a_job_that_left_no_result_did_not_succeed(self):
        completed = judge(SPEC, seen("COMPLETED"), None, False, ["python: not found"])
        self.assertEqual((completed["status"], completed["cause"]["lines"]), ("failed", ["python: not found"]))
        forgotten = judge(SPEC, None, None, False, [])
        self.assertEqual((forgotten["status"], forgotten["slurm"]["source"]), ("failed", "records"))

    def test_cancelled_is_stopped_and_says_by_whom_unless_it_was_flexrack(self):
        by = judge(SPEC, seen("CANCELLED", by="ann", source="sacct"), leader("stopped", provisional=True), False, [])
        self.assertEqual(
            (by["status"], by["cause"]["message"]), ("stopped", "job 17 was cancelled in Slurm by ann (CANCELLED)")
        )
        requested = judge(SPEC, seen("CANCELLED"), None, True, [])
        self.assertEqual((requested["status"], requested["exit"], requested["cause"]), ("stopped", 130, None))
        self.assertLessEqual(requested["started"], requested["ended"])

    def test_after_slurms_sigterm_an_end_is_a_stop_however_the_ranks_ended(self):
        for status, cause in (("finished", None), ("failed", RANK), ("stopped", None)):
            result = after_signal(SPEC, leader(status, cause), at=89.0, requested=True, seen=None)
            self.assertEqual(
                (result["status"], result["exit"], result["cause"], result["attempts"][-1]["status"]),
                ("stopped", 130, None, "stopped"),
                status,
            )
        self.assertEqual(
            after_signal(SPEC, leader("finished"), at=95.5, requested=False, seen=None)["status"], "finished"
        )
        self.assertEqual(after_signal(SPEC, leader("failed", RANK), at=91.0, requested=False, seen=None)["cause"], RANK)

    def test_a_time_limit_is_known_while_the_job_is_completing_the_rest_is_provisional(self):
        limit = after_signal(
            SPEC, leader("stopped"), at=89.0, requested=False, seen=seen("COMPLETING", reason="TimeLimit")
        )
        self.assertEqual((limit["status"], limit["slurm"]["state"]), ("failed", "TIMEOUT"))
        self.assertEqual(judge(SPEC, None, limit, False, [])["status"], "failed", "also when Slurm has forgotten it")
        other = after_signal(SPEC, leader("stopped"), at=89.0, requested=False, seen=seen("COMPLETING"))
        self.assertTrue(other["provisional"])


class LeaderAddress(unittest.TestCase):
    def test_loopback_is_for_one_machine_only(self):
        self.assertEqual(step.leader_address(["10.255.0.1"], None), "127.0.0.1")
        self.assertEqual(step.leader_address(["127.0.0.1", "127.0.0.1"], None), "127.0.0.1")

    def test_an_interface_that_is_not_there_is_named(self):
        self.assertEqual(step.leader_address(["127.0.0.1", "10.0.0.2"], "lo"), "127.0.0.1")
        with self.assertRaises(commands.NodeError) as caught:
            step.leader_address(["10.0.0.1", "10.0.0.2"], "ib7")
        self.assertIn("ib7", caught.exception.message)

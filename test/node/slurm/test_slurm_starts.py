"""A job that Slurm starts again: what becomes of the starts before, and when the run is over all the same. The real
Slurm is in test/integration/train-slurm-requeue.test.ts.
"""

import os
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base import stored
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read, write
from flexrack_node.run.files import RunFolder
from flexrack_node.run.recorded import NotRecorded
from flexrack_node.run.recording import Recorder
from flexrack_node.run.upstream import Upstream
from flexrack_node.slurm import commands, job, starts, step
from flexrack_node.slurm.board import Board
from flexrack_node.slurm.job import SlurmJob
from flexrack_node.slurm.verdict import after_signal

SPEC = {
    "run": "digits-1",
    "node": "login",
    "cwd": "/nowhere",
    "tracking": None,
    "slurm": {"nodes": 2},
    "command": [],
    "processes": 1,
    "launcher": "plain",
}
TAKEN = {"why": starts.PREEMPTED}


class SlurmStarts(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = RunFolder(Path(place.name) / "digits-1")
        self.folder.path.mkdir()
        self.folder.write("spec", SPEC)
        self.folder.write("job", {"job": "17"})

    def part(self, start, index, attempts, result=None, **record):
        part = RunFolder(starts.place(self.folder.path, start) / str(index))
        part.path.mkdir(parents=True)
        part.write("spec", {**SPEC, "node": f"c{index + 1}", "index": index})
        for number in attempts:
            part.attempt(number).mkdir(parents=True)
            write(
                "run.rank",
                part.attempt(number) / f"rank-{index}.json",
                {"rank": index, "started": 10.0 * number, "pid": 1, **record},
            )
        if result:
            part.write("result", result)
        return part

    def leader(self, attempts, **more):
        found = [{"attempt": number, "status": "stopped", "cause": None} for number in attempts]
        return {"status": "stopped", "cause": None, "attempts": found, "started": 10.0, "ended": 20.0, **more}

    def test_attempts_are_counted_on_and_say_why_there_is_another(self):
        self.part(0, 0, [1], self.leader([1], requeued=TAKEN), ended=15.0, exit=3)
        self.folder.write("gang", {"nodes": ["c1"]})
        first = starts.close(self.folder, 1)
        self.assertEqual(
            [(one["attempt"], one["changes"]) for one in first],
            [(1, f"Slurm started the job again: {starts.PREEMPTED}")],
        )
        self.folder.write("gang", {"nodes": ["c1"], "start": 1, "attempts": first})
        part = self.part(1, 0, [2])  # killed with everything around it
        second = starts.close(self.folder, 3)
        self.assertEqual([(one["attempt"], one["status"]) for one in second], [(1, "stopped"), (2, "stopped")])
        self.assertEqual((second[1]["why"], second[1]["changes"]), (first[0]["changes"], "Slurm started the job again"))
        self.assertEqual(
            {key: part.records(2)[0][key] for key in ("exit", "signal", "presumed", "ended")},
            {"exit": 137, "signal": "KILL", "presumed": True, "ended": 20.0},
        )
        self.assertEqual((part.result()["status"], part.result()["requeued"]), ("stopped", {"why": None}))
        self.assertEqual(starts.close(self.folder, 3), second, "as often as it is done")

    def test_outputs_and_events_go_on_where_they_were_also_over_a_start_that_never_began(self):
        before = self.part(0, 1, [])
        before.outputs.mkdir()
        (before.outputs / "step-3").write_text("3")
        before.event("joined")
        later = self.part(2, 1, [])
        starts.carry_on(self.folder.path, 2, later.path)
        self.assertEqual((later.outputs / "step-3").read_text(), "3")
        later.event("started")
        self.assertEqual(len((before.path / "events.jsonl").read_text().splitlines()), 2)
        new = self.part(2, 5, [])
        starts.carry_on(self.folder.path, 2, new.path)
        self.assertFalse(new.outputs.exists())

    def test_an_end_that_two_learn_at_the_same_moment_is_closed_once(self):
        self.part(0, 0, [1], self.leader([1], requeued=TAKEN))
        self.folder.write("gang", {"nodes": ["c1"]})
        gone = {
            "job": "17",
            "state": "CANCELLED",
            "reason": None,
            "start": 1.0,
            "submitted": 1.0,
            "ended": 2.0,
            "limit": None,
            "partition": "main",
            "nodes": "",
            "by": None,
            "exit": None,
            "source": "squeue",
        }
        other = threading.Thread(target=lambda: SlurmJob(self.folder).close())
        original = job.judge

        def late(*given):
            if other.ident is None:
                other.start()
                other.join(1.0)  # it has closed the run meanwhile, if it may
            return original(*given)

        with mock.patch.object(job, "judge", late), mock.patch.object(Board, "look", lambda *_: gone):
            SlurmJob(self.folder).close()
            other.join()
        self.assertEqual(self.folder.result()["slurm"]["requeued"], {"times": 1, "why": starts.PREEMPTED})

    def test_a_run_is_of_its_newest_start_and_shows_all(self):
        self.part(0, 0, [1], self.leader([1], requeued=TAKEN))
        self.folder.write("gang", {"nodes": ["c1"]})
        run = SlurmJob(self.folder)
        self.assertEqual(run.requeued("PENDING"), {"times": 1, "why": starts.PREEMPTED})
        self.part(1, 0, [2])
        self.folder.write("gang", {"nodes": ["c1"], "start": 1, "attempts": starts.close(self.folder, 1)})
        self.assertEqual(run.requeued("RUNNING"), {"times": 1, "why": starts.PREEMPTED})
        self.assertEqual(
            (run.leader().path.parent.name, [part.path.parent.name for part in run.parts()]),
            ("members-1", ["members", "members-1"]),
        )
        self.assertEqual(starts.numbers(self.folder.path), [0, 1])

    def test_a_job_that_is_cancelled_between_two_starts_keeps_what_it_did(self):
        self.part(0, 0, [1], self.leader([1], requeued=TAKEN, outputs=["model.txt"]))
        self.folder.write("gang", {"nodes": ["c1"]})
        gone = {
            "job": "17",
            "state": "CANCELLED",
            "reason": None,
            "start": None,
            "submitted": 5.0,
            "ended": 99.0,
            "nodes": "",
            "partition": "main",
            "by": None,
            "exit": None,
            "source": "squeue",
        }
        with mock.patch.object(Board, "look", return_value=gone):
            self.assertIsNone(SlurmJob(self.folder).look())
            self.assertIsNone(self.folder.result())  # who looks changes nothing
            SlurmJob(self.folder).close()
        result = self.folder.result()
        self.assertEqual(
            (result["status"], result["ended"], [one["attempt"] for one in result["attempts"]], result["outputs"]),
            ("stopped", 99.0, [1], ["model.txt"]),
        )
        self.assertEqual(result["slurm"]["requeued"], {"times": 1, "why": starts.PREEMPTED})

    def test_a_run_that_is_over_does_not_begin_again(self):
        with mock.patch.dict(os.environ, {"SLURM_JOB_ID": "17", "SLURM_RESTART_COUNT": "1"}):
            self.part(0, 0, [1], {**self.leader([1]), "status": "finished"})
            self.assertEqual(step.prepare(self.folder), step.OVER)
            self.folder.write("result", {"status": "stopped"})
            with self.assertRaises(NodeError) as caught:
                step.prepare(self.folder)
        self.assertIn("is over (stopped)", caught.exception.message)
        self.assertIsNone(read("run.gang", self.folder.path / "gang.json"))

    def test_a_node_waits_until_it_is_shown_the_meeting_place_of_this_start(self):
        self.folder.write("gang", {"nodes": ["c1"], "port": 1})
        with mock.patch.object(step, "_SHOWN_SECONDS", 0.0):
            with self.assertRaises(NodeError) as caught:
                step._gang(self.folder, 1)
        self.assertIn("gang.json", caught.exception.message)
        self.folder.write("gang", {"nodes": ["c1"], "port": 2, "start": 1})
        self.assertEqual(step._gang(self.folder, 1)["port"], 2)

    def test_the_record_stays_open_where_slurm_starts_the_job_again_or_could_not_be_asked(self):
        stopped = {**self.leader([1]), "exit": 130}
        spec = {**SPEC, "slurm": {"job": "17", "start": 1, "requeue": True}}
        seen = {"job": "17", "state": "COMPLETING", "reason": None, "source": "squeue", "preempted": True}
        again = after_signal(spec, stopped, at=15.0, requested=False, seen={**seen, "restarts": 2})
        self.assertEqual(
            (again["requeued"], again["cause"]["message"]), (TAKEN, f"Slurm requeued job 17: {starts.PREEMPTED}")
        )
        last = after_signal(spec, stopped, at=15.0, requested=False, seen={**seen, "restarts": 1})
        self.assertEqual((last.get("requeued"), last["provisional"]), (None, True))
        unknown = after_signal(spec, stopped, at=15.0, requested=False, seen=None)
        self.assertTrue(unknown["open"] and unknown["provisional"])
        for result in (again, unknown):
            with self.assertRaises(NotRecorded):
                Recorder(Upstream("http://127.0.0.1:1", None), {"run_id": "x"}).finish(spec, result)

    def test_squeue_tells_how_often_a_job_was_put_back(self):
        with tempfile.TemporaryDirectory() as folder:
            squeue = Path(folder) / "squeue"
            squeue.write_text(
                "#!/bin/sh\ncase \"$*\" in *RestartCnt*) echo '2                   2026-01-31T12:00:00           ';; *) echo '17|COMPLETING|N/A|N/A|N/A|main|c1|None';; esac\n"
            )
            squeue.chmod(0o755)
            found = commands.look("17", folder)
            self.assertEqual((found["restarts"], found["preempted"]), (2, True))
            squeue.write_text(
                "#!/bin/sh\ncase \"$*\" in *RestartCnt*) echo 'Invalid job format specification' >&2; exit 1;; *) echo '17|COMPLETING|N/A|N/A|N/A|main|c1|None';; esac\n"
            )
            self.assertNotIn("restarts", commands.look("17", folder))

    def test_a_job_that_got_notice_is_waited_for_until_it_is_taken_and_no_other(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(commands, "_NOTICE", 0.01):
            for preempted, expected, count in (
                ("12:00:00", "COMPLETING", 4),
                ("10:59:59", "RUNNING", 1),
                ("Unknown", "RUNNING", 1),
            ):
                squeue, calls = Path(folder) / "squeue", Path(folder) / "calls"
                calls.write_text("")
                squeue.write_text(f"""#!/bin/sh
case "$*" in *RestartCnt*) echo '1 2026-01-31T{preempted}'; exit;; esac
echo x >>{calls}
test $(wc -l <{calls}) -eq 2 && echo 'Unable to contact slurm controller' >&2 && exit 1
test $(wc -l <{calls}) -ge 4 && state=COMPLETING || state=RUNNING
echo "17|$state|2026-01-31T11:00:00|2026-01-31T10:00:00|2026-01-31T12:00:30|main|c1|None"
""")
                squeue.chmod(0o755)
                self.assertEqual(
                    (commands.look_when_taken("17", folder)["state"], len(calls.read_text().split())),
                    (expected, count),
                    preempted,
                )


class Writing(unittest.TestCase):
    def test_a_signal_may_write_a_file_in_the_middle_of_the_same_file_being_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path, fsync, calls = Path(folder) / "stop.json", os.fsync, []

            def interrupted(fd):
                calls.append(fd)
                if len(calls) == 1:
                    write("run.stop", path, {"by": "the second"})
                fsync(fd)

            with mock.patch.object(stored.os, "fsync", interrupted):
                write("run.stop", path, {"by": "the first"})
            self.assertEqual(
                (len(calls), read("run.stop", path), os.listdir(folder)), (2, {"by": "the first"}, ["stop.json"])
            )

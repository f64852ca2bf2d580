"""How often Slurm is asked: once for everything that watches, and seldom while nothing happens."""

import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.base import shared_lock
from flexrack_node.base.errors import NodeError
from flexrack_node.slurm.board import FIRST, MOST, Board
from places import verb_words
from waiting import LONG, until

HOUR = 3600.0


class Slurm:
    """A controller and a clock that only tests move; `asked` is when, and for what."""

    def __init__(self, **states):
        self.time, self.states, self.requested, self.refusal = (
            1000.0,
            {name.lstrip("j"): state for name, state in states.items()},
            [],
            None,
        )

    def ask(self, job, folder):
        self.requested.append((self.time, job))
        if self.refusal:
            raise self.refusal
        return {
            number: {"job": number, "state": state} for number, state in self.states.items() if job in (None, number)
        }


class BoardTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runs = Path(folder.name)

    def board(self, slurm, **parts):
        return Board(self.runs, None, slurm.ask, lambda: slurm.time, **parts)

    def play(self, slurm, watchers, seconds, sign=lambda job: 0.0):
        """As SlurmJob.watch does it, ten times a second: what each watcher has seen, in order."""
        reported = {job: [] for _, job in watchers}
        signed = {}
        end = slurm.time + seconds
        while slurm.time < end:
            for number, (board, job) in enumerate(watchers):
                if not board.is_good() or sign(job) > signed.get(number, 0.0):
                    signed[number] = sign(job)
                    seen = board.look(job, signed[number])
                    if reported[job][-1:] != [seen["state"]]:
                        reported[job].append(seen["state"])
            slurm.time += 0.1
        return reported

    def test_fifty_who_watch_cost_what_one_costs(self):
        counts = []
        for many in (1, 50):
            slurm = Slurm(**{f"j{number}": "RUNNING" for number in range(many)})
            watchers = [(self.board(slurm), str(number)) for number in range(many)]
            self.play(slurm, watchers, 300.0)
            counts.append(len(slurm.requested))
            (self.runs / ".queue.json").unlink()
        # the first is asked for before it is known that there are others
        self.assertLessEqual(counts[1], counts[0] + 2)
        self.assertLessEqual(counts[0], 60)  # one a second would be 300

    def test_the_longer_nothing_happens_the_more_seldom_it_is_asked(self):
        slurm = Slurm(j1="PENDING")
        self.play(slurm, [(self.board(slurm), "1")], HOUR / 4)
        gaps = [after - before for (before, _), (after, _) in zip(slurm.requested, slurm.requested[1:])]
        self.assertEqual(sorted(round(gap) for gap in gaps), [round(gap) for gap in gaps])
        self.assertGreaterEqual(gaps[0], FIRST)
        self.assertAlmostEqual(gaps[-1], MOST, delta=0.2)
        self.assertEqual({job for _, job in slurm.requested}, {"1"})  # of one job nobody needs to hear of all

    def test_another_state_and_what_the_files_say_make_it_quick_again(self):
        slurm = Slurm(j1="PENDING")
        watchers = [(self.board(slurm), "1")]
        self.play(slurm, watchers, 600.0)
        slurm.states["1"] = "RUNNING"
        before = slurm.time
        self.assertEqual(self.play(slurm, watchers, MOST + 5)["1"], ["PENDING", "RUNNING"][1:])
        self.assertGreaterEqual(len([at for at, _ in slurm.requested if at > before]), 5)
        self.play(slurm, watchers, 600.0)
        ended = slurm.time
        slurm.states["1"] = "COMPLETED"
        reported = self.play(slurm, watchers, 0.1, sign=lambda job: 7.0)  # the leader's result is there
        self.assertEqual((reported["1"], slurm.requested[-1]), (["COMPLETED"], (ended, "1")))

    def test_who_begins_to_watch_later_goes_on_at_the_pace_that_there_is(self):
        slurm = Slurm(j1="RUNNING")
        for _ in range(30):  # a command asks anew every 20 s
            self.play(slurm, [(self.board(slurm), "1")], 20.0)
        late = [at for at, _ in slurm.requested if at > slurm.time - 200.0]
        self.assertLessEqual(len(late), 21)

    def test_an_older_sign_is_no_news_so_two_who_see_the_files_differently_do_not_keep_asking(self):
        slurm = Slurm(j1="RUNNING")
        watchers = [(self.board(slurm), "1"), (self.board(slurm), "1")]
        self.play(slurm, watchers, 300.0)
        before = len(slurm.requested)
        for _ in range(20):
            watchers[0][0].look("1", 5.0)
            watchers[1][0].look("1", 4.0)
            slurm.time += 0.01
        self.assertEqual(len(slurm.requested) - before, 1)

    def test_an_answer_is_as_new_as_is_asked_for(self):
        slurm = Slurm(j1="RUNNING")
        board = self.board(slurm)
        self.play(slurm, [(board, "1")], 300.0)
        slurm.states["1"] = "COMPLETING"
        for most in (1.0, 0.0):
            before = len(slurm.requested)
            slurm.time += 1.5
            self.assertEqual(
                (self.board(slurm).look("1", 0.0, most)["state"], len(slurm.requested) - before), ("COMPLETING", 1)
            )

    def test_a_list_of_many_runs_is_two_questions(self):
        slurm = Slurm(**{f"j{number}": "PENDING" for number in range(40)})
        self.assertEqual(
            [self.board(slurm).look(str(number), 0.0, 1.0)["state"] for number in range(40)], ["PENDING"] * 40
        )
        self.assertEqual([job for _, job in slurm.requested], ["0", None])

    def test_a_user_with_very_many_jobs_has_no_board_of_their_size(self):
        slurm = Slurm(**{f"j{number}": "PENDING" for number in range(3000)})
        for job in ("2998", "2999"):
            self.assertEqual(self.board(slurm).look(job, 0.0)["state"], "PENDING")
        rows = json.loads((self.runs / ".queue.json").read_text())["jobs"]
        self.assertEqual((len(rows), {"2998", "2999"} <= set(rows)), (1002, True))

    def test_that_slurm_does_not_know_a_job_is_only_believed_where_it_was_asked_for_it(self):
        slurm = Slurm(j1="RUNNING", j2="RUNNING")
        self.play(slurm, [(self.board(slurm), "1"), (self.board(slurm), "2")], 30.0)
        before = len(slurm.requested)
        self.assertIsNone(self.board(slurm).look("3", 0.0))
        self.assertEqual([job for _, job in slurm.requested[before:]], [None, "3"])

    def test_a_refusal_is_everybodys_for_a_moment(self):
        slurm = Slurm(j1="RUNNING", j2="RUNNING")
        slurm.refusal = NodeError("NODE_UNREACHABLE", "Slurm does not answer", "sinfo")
        for job in ("1", "2", "1", "2"):
            with self.assertRaises(NodeError) as caught:
                self.board(slurm).look(job, 0.0)
            self.assertEqual((caught.exception.code, caught.exception.hint), ("NODE_UNREACHABLE", "sinfo"))
        self.assertEqual(len(slurm.requested), 1)
        slurm.time, slurm.refusal = slurm.time + 1.1, None
        self.assertEqual(self.board(slurm).look("2", 0.0)["state"], "RUNNING")

    def test_a_clock_that_is_set_back_a_damaged_board_and_another_slurm_are_reasons_to_ask(self):
        slurm = Slurm(j1="RUNNING")
        self.board(slurm).look("1", 0.0)
        slurm.time -= HOUR
        self.board(slurm).look("1", 0.0)
        (self.runs / ".queue.json").write_text('{"bin": null, "jo')
        self.board(slurm).look("1", 0.0)
        Board(self.runs, "/opt/slurm/bin", slurm.ask, lambda: slurm.time).look("1", 0.0)
        self.assertEqual(len(slurm.requested), 4)
        self.assertEqual(os.stat(self.runs / ".queue.json").st_mode & 0o077, 0)

    def test_one_that_was_stopped_while_it_asked_keeps_nobody_from_asking(self):
        slurm = Slurm(j1="RUNNING")
        with open(self.runs / ".queue.lock", "w") as held:
            self.assertTrue(shared_lock.take(held.fileno()))
            self.assertEqual(self.board(slurm, patience=0.1).look("1", 0.0)["state"], "RUNNING")


class ProcessesTest(unittest.TestCase):
    """Processes that wait for runs, as commands start them on the login node, and a squeue that counts how often it is
    called.
    """

    RUNS = 8

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        squeue = self.root / "bin" / "squeue"
        squeue.parent.mkdir()
        squeue.write_text('#!/bin/sh\necho "$*" >>"$0.calls"\ncat "$0.says"\n')
        squeue.chmod(0o755)
        (self.root / "bin" / "sacct").write_text("#!/bin/sh\nexit 1\n")
        (self.root / "bin" / "sacct").chmod(0o755)
        self.squeue = squeue
        self.say("RUNNING")
        for number in range(self.RUNS):
            run = self.root / "runs" / f"digits-{number}"
            run.mkdir(parents=True)
            (run / "spec.json").write_text(
                json.dumps(
                    {
                        "run": run.name,
                        "node": "login",
                        "scheduler": "slurm",
                        "processes": 1,
                        "launcher": "plain",
                        "command": ["x"],
                        "tracking": None,
                        "created": 1.0,
                        "slurm": {"nodes": 1, "bin": str(squeue.parent)},
                    }
                )
            )
            (run / "job.json").write_text(json.dumps({"job": str(number)}))

    def say(self, state):
        rows = [
            f"{number}|{state}|2026-01-31T12:00:00|2026-01-31T11:00:00|2026-01-31T13:00:00|gpu|c1|None\n"
            for number in range(self.RUNS)
        ]
        part = self.root / "part"
        part.write_text("".join(rows))
        part.replace(f"{self.squeue}.says")

    def calls(self):
        path = Path(f"{self.squeue}.calls")
        return path.read_text().splitlines() if path.exists() else []

    def watching(self):
        board = self.root / "runs" / ".queue.json"
        return len(json.loads(board.read_text())["watched"]) if board.exists() else 0

    def test_eight_processes_that_wait_ask_no_more_often_than_one_may(self):
        begin = time.monotonic()
        words = verb_words("run.state", self.root, self.root / "environments")
        waiting = []
        for number in range(self.RUNS):
            one = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.addCleanup(one.kill)
            one.stdin.write(json.dumps({"run": f"digits-{number}", "wait": LONG * 2}).encode() + b"\n")
            one.stdin.close()
            waiting.append(one)
        until(lambda: self.watching() == self.RUNS)
        until(lambda: len(self.calls()) >= 6)
        self.say("COMPLETED")
        reported = [json.loads(one.stdout.read().splitlines()[-1])["result"] for one in waiting]
        for one in waiting:
            one.wait(LONG)
            one.stdout.close()
        self.assertEqual([one["live"] for one in reported], [False] * self.RUNS)
        seconds = time.monotonic() - begin
        calls = self.calls()
        # Nothing is asked twice within half a second; at most one of two questions is followed by one for a job that
        # the first did not name.
        self.assertLessEqual(len(calls), seconds / FIRST + self.RUNS, calls)
        self.assertIn("--me", " ".join(calls))

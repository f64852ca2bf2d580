"""Ranks that stop making progress, in real gangs. `LOCKSTEP` is a program in lock step without torch: its collective is
a meeting through files, noted as the hook notes torch's.
"""

import json
import os
import signal
import unittest

from run_support import Rack
from waiting import until

LOCKSTEP = """
import os, sys, time, threading
import flexrack_instrumentation
me, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
progress, attempt = flexrack_instrumentation._progress, int(os.environ["FLEXRACK_ATTEMPT"])
LABEL = b"all_reduce".ljust(32, b"\\0")

def all_reduce(number):
    progress.collective_begins(LABEL)
    open(f"at-{attempt}-{number}-{me}", "w").close()
    while not all(os.path.exists(f"at-{attempt}-{number}-{rank}") for rank in range(world)):
        time.sleep(0.01)
    progress.collective_ends()

def work(number):
    BODY

for number in range(1, 31):
    work(number)
    all_reduce(number)
    progress.step()
"""
AT_5 = "if me == 1 and number == 5 and attempt == 1: "


class HangTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)

    def start(self, body, after=3.0, action="report", **parts):
        self.rack.script(LOCKSTEP.replace("BODY", body))
        return self.rack.start(hang={"after": after, "action": action}, **parts)

    def hang_of(self, run, number=1):
        path = self.rack.folder / "node-1" / "runs" / run / f"hang-{number}.json"
        until(path.exists)
        return json.loads(path.read_text())

    def pid_of(self, run, rank):
        node = self.rack.nodes[rank]
        return until(
            lambda: (
                self.rack.call(node, "run.state", {"run": run})["records"].get("1", {}).get(str(rank), {}).get("pid")
            )
        )

    def test_the_rank_that_waits_for_a_lock_is_named_with_its_line_and_the_collective_that_the_others_wait_in(self):
        run = self.start(AT_5 + "lock = threading.Lock(); lock.acquire(); lock.acquire()")
        found = self.hang_of(run)
        self.assertEqual([one["rank"] for one in found["suspects"]], [1])
        self.assertIn("rank 0 waits in all_reduce #5", found["message"])
        self.assertIn("rank 1 (node-2) has not come", found["message"])
        self.assertIn("train.py:16 in work", found["lines"][0])
        self.assertEqual({one["rank"]: one["source"] for one in found["ranks"]}, {0: "faulthandler", 1: "faulthandler"})
        reported = [event for event in self.rack.events_of(run, "node-1") if event["event"] == "hang"]
        self.assertEqual([one["message"] for one in reported], [found["message"]])
        state = self.rack.call("node-1", "run.state", {"run": run})
        self.assertTrue(state["live"])  # it is told, and nothing more
        self.assertEqual(state["hangs"][0]["message"], found["message"])
        self.assertNotIn("ranks", state["hangs"][0])

    def test_an_endless_loop_is_told_from_waiting(self):
        run = self.start(AT_5 + "\n        while True: pass")
        found = self.hang_of(run)
        self.assertEqual([one["rank"] for one in found["suspects"]], [1])
        self.assertIn("computes (", found["suspects"][0]["why"])
        self.assertIn("train.py:17 in work", found["message"])

    def test_a_rank_that_was_stopped_by_a_signal_is_named_although_it_cannot_write_its_stacks(self):
        # lines are progress, too
        waits = "print('.', flush=True); time.sleep(0.05)"
        here = "attempt == 1 and number == 5"
        run = self.start(
            f"if {here}: open(f'five-{{me}}', 'w').close()\n"
            f"    while {here} and not os.path.exists('stopped'): {waits}\n"
            f"    while number == 30 and not os.path.exists('told'): {waits}"
        )
        pid = self.pid_of(run, 1)
        until((self.rack.folder / "code" / "five-1").exists)
        os.kill(pid, signal.SIGSTOP)
        (self.rack.folder / "code" / "stopped").touch()
        found = self.hang_of(run)
        self.assertEqual(found["suspects"], [{"rank": 1, "node": "node-2", "why": "is stopped (SIGSTOP)"}])
        os.kill(pid, signal.SIGCONT)
        until(lambda: "hang over" in [event["event"] for event in self.rack.events_of(run, "node-1")])
        (self.rack.folder / "code" / "told").touch()
        self.assertEqual(self.rack.finish(run)["status"], "finished")  # it was not touched

    def test_a_rank_that_has_ended_is_named_where_the_others_wait_for_it(self):
        run = self.start(AT_5 + "sys.exit(0)")
        self.assertIn("rank 1 has ended already", self.hang_of(run)["message"])

    def test_with_restart_the_attempt_ends_for_the_hang_and_the_gang_starts_again(self):
        run = self.start(AT_5 + "time.sleep(600)", action="restart", restarts=1, after=4.0)
        state = self.rack.finish(run)
        first, second = state["result"]["attempts"]
        self.assertEqual((first["status"], second["status"], state["status"]), ("failed", "finished", "finished"))
        self.assertEqual(
            (first["cause"]["kind"], first["cause"]["rank"], first["cause"]["node"]), ("hang", 1, "node-2")
        )
        self.assertIn("no progress for", first["cause"]["message"])
        self.assertEqual(self.rack.alive(run), set())

    def test_with_stop_the_run_fails_although_restarts_are_left(self):
        run = self.start("if me == 1 and number == 5: time.sleep(600)", action="stop", restarts=3)
        state = self.rack.finish(run)
        self.assertEqual(
            (state["status"], len(state["result"]["attempts"]), state["cause"]["kind"]), ("failed", 1, "hang")
        )
        self.assertEqual(self.rack.alive(run), set())

    def test_before_the_first_step_and_while_lines_are_written_nothing_hangs(self):
        quiet = "if number == 1: time.sleep(6)"  # twice `after` without a step
        talks = "if number == 5:\n        for _ in range(50): print('evaluating', flush=True); time.sleep(0.1)"
        for body in (quiet, talks):
            with self.subTest(body=body):
                for file in (self.rack.folder / "code").glob("at-*"):
                    file.unlink()
                run = self.start(body)
                self.assertEqual(self.rack.finish(run)["status"], "finished")
                self.assertEqual(self.rack.call("node-1", "run.state", {"run": run})["hangs"], [])

    def test_ranks_at_a_barrier_are_excused_while_another_one_still_works(self):
        run = self.start(
            "if me == 1 and number == 5:\n        for _ in range(50): progress.batch_came(progress.wait_for_batch(), 1, 0, False); time.sleep(0.1)"
        )
        self.assertEqual(self.rack.finish(run)["status"], "finished")
        self.assertEqual(self.rack.call("node-1", "run.state", {"run": run})["hangs"], [])

    def test_stacks_of_a_live_run_are_shown_and_change_nothing(self):
        run = self.start(AT_5 + "time.sleep(600)", after=300.0)
        until(
            lambda: self._try(
                lambda: self.rack.call("node-2", "run.stacks", {"run": run})["ranks"][0]["progress"]["steps"] == 4
            )
        )
        (one,) = self.rack.call("node-2", "run.stacks", {"run": run})["ranks"]
        self.assertEqual(
            (one["rank"], one["source"], one["threads"][0]["frames"][0]["function"]), (1, "faulthandler", "work")
        )
        self.assertTrue(self.rack.call("node-1", "run.state", {"run": run})["live"])

    def test_of_a_program_without_the_hook_the_kernel_tells(self):
        run = self.start("pass", watch=False, command=["sleep", "600"])
        (one,) = until(lambda: self._try(lambda: self.rack.call("node-1", "run.stacks", {"run": run})["ranks"]))
        self.assertEqual((one["threads"], one["source"], one["state"], one["progress"]), ([], "kernel", "S", None))

    def test_the_slowest_rank_is_in_the_result_with_the_reason(self):
        run = self.start(
            "since = progress.wait_for_batch(); time.sleep(0.05 if me == 1 else 0.002); progress.batch_came(since, 8, 0, True)",
            after=60.0,
        )
        pace = self.rack.finish(run)["result"]["attempts"][0]["pace"]
        self.assertEqual(
            [(one["rank"], one["steps"], one["samples"]) for one in pace["ranks"]], [(0, 30, 240), (1, 30, 240)]
        )
        self.assertEqual((pace["slowest"]["rank"], pace["slowest"]["node"]), (1, "node-2"))
        self.assertIn("it waits for data", pace["slowest"]["why"])

    def _try(self, action):
        try:
            return action()
        except RuntimeError:  # no rank is alive yet
            return None

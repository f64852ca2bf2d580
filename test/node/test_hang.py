"""Ranks that stop making progress, in real gangs. `LOCKSTEP` is a program in lock step without torch: its collective is a meeting through files, noted as the hook notes torch's."""
import json
import os
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run_support import Rack, until  # noqa: E402

LOCKSTEP = """
import os, sys, time, threading
import flexrack_inrank
me, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
progress, attempt = flexrack_inrank._progress, os.environ["FLEXRACK_ATTEMPT"]
LABEL = b"all_reduce".ljust(32, b"\\0")

def all_reduce(number):
    progress.collective_begins(LABEL)
    open(f"at-{attempt}-{number}-{me}", "w").close()
    while not all(os.path.exists(f"at-{attempt}-{number}-{rank}") for rank in range(world)):
        time.sleep(0.01)
    progress.collective_ends()

def hang():
    HANG

for number in range(1, 2000):
    if me == 1 and number == 5 and int(attempt) == 1:
        hang()
    all_reduce(number)
    progress.step()
    if number > 30:
        break
"""
STUCK = "open('stuck', 'w').close()\n    "


class HangTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)

    def start(self, hang, after=1.0, action="report", **parts):
        self.rack.script(LOCKSTEP.replace("HANG", STUCK + hang))
        return self.rack.start(hang={"after": after, "action": action}, **parts)

    def hang_of(self, run, number=1):
        path = self.rack.folder / "node-1" / "runs" / run / f"hang-{number}.json"
        until(path.exists, 60)
        return json.loads(path.read_text())

    def test_the_rank_that_waits_for_a_lock_is_named_with_its_line_and_the_collective_that_the_others_wait_in(self):
        run = self.start("lock = threading.Lock(); lock.acquire(); lock.acquire()")
        found = self.hang_of(run)
        self.assertEqual([one["rank"] for one in found["suspects"]], [1])
        self.assertIn("rank 0 waits in all_reduce #5", found["message"])
        self.assertIn("train.py:17 in hang", found["message"])
        self.assertIn("train.py:17 in hang", found["lines"][0])
        self.assertEqual({one["rank"]: one["source"] for one in found["ranks"]}, {0: "faulthandler", 1: "faulthandler"})
        told = [event for event in self.rack.events_of(run, "node-1") if event["event"] == "hang"]
        self.assertEqual(told[0]["message"], found["message"])
        self.assertTrue(self.rack.call("node-1", "run.state", {"run": run})["live"])  # only told


if __name__ == "__main__":
    unittest.main()

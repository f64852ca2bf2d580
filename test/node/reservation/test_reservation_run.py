import json
import os
import signal
import unittest
from pathlib import Path

from run_support import Rack, supervisor_pid
from waiting import until

FOREVER = """
import os, time, subprocess
subprocess.Popen(["setsid", "sleep", "600"])
open("up-" + os.environ["RANK"], "w").close()
while True: time.sleep(0.05)
"""


class ReservedRunTest(unittest.TestCase):
    """What becomes of a reservation while its run starts, runs and ends, and of the run when the reservation goes."""

    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)

    def held(self):
        return [
            (one["lease"], one["node"], one["state"], one["ends_in"])
            for one in self.rack.call("node-1", "reservation.list")["reservations"]
        ]

    def files(self):
        return list(Path(self.rack.env["FLEXRACK_RESERVATIONS"]).rglob("*.json"))

    def running(self, script=FOREVER, **parts):
        self.rack.script(script)
        run = self.rack.start(run="held", reservations=self.rack.reserve("held"), **parts)
        for rank in (0, 1):
            until((self.rack.folder / "code" / f"up-{rank}").exists)
        return run

    def test_the_supervisors_have_it_until_the_run_ends_and_then_nothing_is_left(self):
        run = self.running()
        self.assertEqual(
            sorted(self.held()), [("held", "node-1", "running", None), ("held", "node-2", "running", None)]
        )
        refused = self.rack.take("node-2", "other", exclusive=False)
        self.assertEqual(
            {(one["lease"], one["owner"], one["over"]) for one in refused["holders"]},
            {("held", "me@here", "the whole node")},
        )
        self.rack.call("node-1", "run.stop", {"run": run})
        self.rack.finish(run, "node-2")
        self.assertEqual((self.held(), self.files()), ([], []))
        self.assertEqual(list(Path(self.rack.env["FLEXRACK_RESERVATIONS"]).iterdir()), [])

    def test_a_fence_that_is_stale_starts_nothing_not_even_a_folder(self):
        leases = self.rack.reserve("held")
        self.rack.call("node-1", "reservation.release", {"lease": "held", "own": True})
        with self.assertRaises(RuntimeError) as caught:
            self.rack.start(run="held", reservations=leases)
        self.assertEqual(caught.exception.args[0], "RESERVATION_LOST")
        again = self.rack.take("node-1", "held")["fence"]
        self.assertGreater(again, leases["node-1"]["fence"])
        with self.assertRaises(RuntimeError) as caught:
            self.rack.start(run="held", reservations=leases)
        self.assertIn("another one has taken its place", caught.exception.args[1][0]["error"]["message"])
        self.assertFalse((self.rack.folder / "node-1" / "runs").exists())

    def test_a_reservation_that_is_taken_away_ends_the_ranks_everywhere(self):
        run = self.running()
        answer = self.rack.call("node-2", "reservation.release", {"lease": run, "owner": "me@here", "force": True})
        self.assertEqual(len(answer["released"]), 2)  # both nodes are one machine here
        state = self.rack.finish(run)
        self.assertEqual((state["status"], self.rack.alive(run)), ("stopped", set()))
        self.assertIn(
            "reservation lost",
            [event["event"] for event in self.rack.events_of(run, "node-1") + self.rack.events_of(run, "node-2")],
        )
        self.assertEqual(self.held(), [])

    def test_no_attempt_is_started_on_a_node_that_was_lost_in_between(self):
        """The rank takes the reservation away itself and fails: the supervisor must look before it starts the next
        attempt.
        """
        script = """
import os, shutil, sys
open("up-" + os.environ["RANK"], "w").close()
if os.environ["RANK"] == "0": shutil.rmtree(os.environ["FLEXRACK_RESERVATIONS"])
sys.exit(3)
"""
        self.rack.script(script)
        run = self.rack.start(
            nodes=["node-1"], run="held", reservations=self.rack.reserve("held", ["node-1"]), restarts=3
        )
        state = self.rack.finish(run)
        self.assertIn(state["status"], ("failed", "stopped"))
        self.assertEqual(
            list((self.rack.folder / "node-1" / "runs" / run / "attempts").iterdir()),
            [self.rack.folder / "node-1" / "runs" / run / "attempts" / "1"],
        )

    def test_a_killed_supervisor_keeps_the_node_until_its_reaper_has_ended_the_ranks(self):
        run = self.running()
        os.kill(supervisor_pid(self.rack, run, "node-1"), signal.SIGKILL)
        os.kill(supervisor_pid(self.rack, run, "node-2"), signal.SIGKILL)
        # Granted only when nobody of the run is alive any more, and then soon.
        until(lambda: self.rack.take("node-1", "next")["granted"])
        self.assertEqual(self.rack.alive(run), set())

    def test_a_run_whose_reaper_was_killed_gives_its_reservation_back_all_the_same(self):
        run = self.running(
            'import os, time\nopen("up-" + os.environ["RANK"], "w").close()\nwhile not os.path.exists("go"): time.sleep(0.02)\n'
        )
        for record in [json.loads(path.read_text()) for path in self.files()]:
            os.kill(record["holders"][1]["pid"], signal.SIGKILL)
        (self.rack.folder / "code" / "go").touch()
        self.assertEqual({self.rack.finish(run, node)["status"] for node in self.rack.nodes}, {"finished"})
        self.assertEqual(self.files(), [])

    def test_what_was_killed_after_the_result_and_before_the_end_keeps_nothing_once_somebody_looks(self):
        run = self.running()
        kept = {path: path.read_text() for path in self.files()}
        self.rack.call("node-1", "run.stop", {"run": run})
        self.rack.finish(run, "node-2")
        for path, text in kept.items():  # as a kill in that moment leaves them: their holders are dead
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        for node in self.rack.nodes:
            self.rack.call(node, "run.state", {"run": run})
        self.assertEqual(self.files(), [])

    def test_where_everything_is_killed_at_once_the_next_one_gets_the_node_and_ends_what_is_left(self):
        run = self.running()
        for record in [json.loads(path.read_text()) for path in self.files()]:
            self.assertEqual(len(record["holders"]), 2)
            for one in reversed(record["holders"]):  # the reaper first, so that it can do nothing
                os.kill(one["pid"], signal.SIGKILL)
        self.assertTrue(self.rack.alive(run))
        # Each node's program looks after the runs of its user on this machine.
        until(lambda: self.rack.take("node-1", "next")["granted"])
        self.assertEqual(self.rack.alive(run), set())
        self.assertEqual([path.name.partition(".")[0] for path in self.files()], ["next"])
        self.assertEqual(self.rack.finish(run)["status"], "failed")

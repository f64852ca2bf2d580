import os
import unittest
from pathlib import Path

from flexrack_node.measure.usage import gpu_load, parse
from run_support import Rack, supervisor_pid
from waiting import until

COMPUTES = "end = sum(range(6_000_000))\n"
WAITS = "import os, time\nopen('up-' + os.environ['RANK'], 'w').close()\nwhile not os.path.exists('over'): time.sleep(0.05)\n"
FAILS_ONCE = "import os, sys\nsum(range(3_000_000))\nsys.exit(3 if os.environ['FLEXRACK_ATTEMPT'] == '1' else 0)\n"


class GpuLoadTest(unittest.TestCase):
    def test_means_of_gpus_add_up_over_the_time_in_which_each_was_seen(self):
        gpus = {
            "0": {"seconds": 100.0, "used": 50.0, "peak": 0},
            "1": {"seconds": 60.0, "used": 0.0, "peak": 0},
            "2": {"seconds": 100.0, "used": None, "peak": 0},
        }
        self.assertEqual(gpu_load({"gpus": gpus}), {"gpu_seen": 160.0, "gpu_busy": 50.0})
        self.assertEqual(gpu_load({"gpus": {"2": gpus["2"]}}), {"gpu_seen": None, "gpu_busy": None})
        self.assertEqual(gpu_load({}), {"gpu_seen": None, "gpu_busy": None})


class UsageTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)

    def entries(self, node="node-1", **given):
        return self.rack.call(node, "usage.read", given)["entries"]

    def logged(self, node="node-1"):
        path = self.rack.folder / node / "usage.jsonl"
        return parse(path.read_bytes(), path) if path.exists() else []

    def test_every_attempt_is_written_down_once_on_its_node_with_who_and_how_long_and_outlives_the_run_s_files(self):
        self.rack.script(FAILS_ONCE)
        run = self.rack.start(restarts=1, owner="ada")
        for node in self.rack.nodes:
            self.rack.finish(run, node)
        records = self.rack.call("node-1", "run.state", {"run": run})["records"]
        entries = sorted(self.entries(), key=lambda entry: entry["attempt"])
        self.assertEqual(
            [
                (
                    one["run"],
                    one["user"],
                    one["project"],
                    one["node"],
                    one["attempt"],
                    one["status"],
                    one["gpus"],
                    one["open"],
                )
                for one in entries
            ],
            [
                (run, "ada", "test", "node-1", number, status, 0, False)
                for number, status in ((1, "failed"), (2, "finished"))
            ],
        )
        for entry in entries:
            record = records[str(entry["attempt"])]["0"]
            self.assertEqual((entry["started"], entry["ended"]), (record["started"], record["ended"]))
            self.assertGreater(entry["cpu"], 0.0)
            self.assertAlmostEqual(entry["cpu"], record["cpu"], 1)
            self.assertEqual((entry["gpu_seen"], entry["gpu_busy"]), (None, None))
        self.rack.call("node-1", "run.remove", {"run": run})
        self.assertEqual(sorted(self.entries(), key=lambda entry: entry["attempt"]), entries)
        self.assertEqual(len(self.logged()), 2)
        self.assertEqual([one["node"] for one in self.entries("node-2")], ["node-2"] * 2)
        self.assertIn(
            "usage.jsonl", [Path(entry["path"]).name for entry in self.rack.call("node-1", "node.installed")["entries"]]
        )

    def test_a_run_that_goes_on_counts_until_now_and_is_not_in_the_log_yet(self):
        self.rack.script(WAITS)
        run = self.rack.start(["node-1"])
        until((self.rack.folder / "code" / "up-0").exists)
        first = until(lambda: self.entries())[0]
        again = self.entries()[0]
        self.assertTrue(first["open"])
        self.assertGreater(again["ended"], first["ended"])
        self.assertEqual(self.logged(), [])
        (self.rack.folder / "code" / "over").touch()
        self.rack.finish(run)
        self.assertEqual([one["open"] for one in self.entries()], [False])

    def test_a_run_whose_supervisor_was_killed_counts_what_was_seen_of_it_and_is_kept_when_it_is_removed(self):
        self.rack.script(WAITS)
        run = self.rack.start(["node-1"], sample_seconds=0.1)
        folder = self.rack.folder / "node-1" / "runs" / run
        until(lambda: (folder / "hardware.jsonl").exists() and '"0":[' in (folder / "hardware.jsonl").read_text())
        os.kill(supervisor_pid(self.rack, run, "node-1"), 9)
        until(lambda: not self.rack.alive(run))
        self.rack.call("node-1", "run.state", {"run": run, "wait": 30})
        entry = self.entries()[0]
        self.assertEqual((entry["open"], entry["status"]), (False, "failed"))
        self.assertEqual(self.logged(), [])
        self.rack.call("node-1", "run.remove", {"run": run})
        self.assertEqual([(one["run"], one["started"]) for one in self.logged()], [(run, entry["started"])])

    def test_what_ended_before_is_left_out_and_a_torn_line_takes_nothing_with_it(self):
        self.rack.script(COMPUTES)
        run = self.rack.start(["node-1"])
        ended = self.rack.finish(run)["records"]["1"]["0"]["ended"]
        with open(self.rack.folder / "node-1" / "usage.jsonl", "ab") as file:
            file.write(b'{"run": "torn", "no')
        other = self.rack.start(["node-1"])
        self.rack.finish(other)
        self.assertEqual({one["run"] for one in self.entries()}, {run, other})
        self.assertEqual([one["run"] for one in self.entries(since=ended + 0.001)], [other])

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base import shared_lock
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.sweep import control


class SweepTest(unittest.TestCase):
    """What is told of sweeps without Optuna: the engine itself is tried in test/e2e/sweep.test.ts."""

    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.root = Path(self.temp.name)
        self.channel = Channel(self.root, self.root / "environments", open(os.devnull, "rb"))
        self.make("a-sweep-1", "a", 1.0)

    def tearDown(self):
        self.channel.body.close()
        self.temp.cleanup()

    def make(self, name, project, created, **now):
        folder = self.root / "sweeps" / name
        folder.mkdir(parents=True)
        (folder / "sweep.json").write_text(
            json.dumps({"sweep": name, "project": project, "created": created, "spec": {}})
        )
        if now:
            (folder / "trials.json").write_text(json.dumps(now))
        return folder

    def hold(self, name, note):
        """As FileLock does it: the lock, and who holds it."""
        fd = os.open(self.root / "sweeps" / name / "lock", os.O_RDWR | os.O_CREAT)
        self.assertTrue(shared_lock.take(fd))
        os.write(fd, note)
        self.addCleanup(os.close, fd)

    def code(self, function, given):
        with self.assertRaises(NodeError) as caught:
            function(given, self.channel)
        return caught.exception.code, caught.exception.message

    def test_a_sweep_that_nobody_drives_and_that_is_not_over_is_interrupted(self):
        self.make("b-sweep-2", "b", 3.0, status="running", trials=[{"number": 0}])
        self.make("a-sweep-3", "a", 2.0, status="finished", trials=[], importance={"x": 1.0})
        self.hold("a-sweep-1", json.dumps({"pid": 7, "owner": "ada@laptop", "host": "node-1", "since": 0}).encode())
        found = control.listing({}, self.channel)
        self.assertEqual(
            [(one["sweep"], one["status"]) for one in found],
            [("b-sweep-2", "interrupted"), ("a-sweep-3", "finished"), ("a-sweep-1", "running")],
        )
        self.assertRegex(found[2]["driver"], r"^ada@laptop on node-1 \(pid 7, since \d+ s\)$")
        self.assertEqual(
            [one["sweep"] for one in control.listing({"project": "a"}, self.channel)], ["a-sweep-3", "a-sweep-1"]
        )

    def test_a_lock_without_its_note_is_a_driver_all_the_same(self):
        self.hold("a-sweep-1", b"")
        self.assertEqual(control.show({"sweep": "a-sweep-1"}, self.channel)["driver"], "another process")

    def test_a_second_driver_is_refused_and_told_by_whom(self):
        self.hold("a-sweep-1", json.dumps({"pid": 7, "owner": "ada@laptop", "host": "node-1", "since": 0}).encode())
        code, message = self.code(control.drive, {"sweep": "a-sweep-1", "python": sys.executable, "owner": "bob@desk"})
        self.assertEqual(code, "LOCKED")
        self.assertIn("ada@laptop", message)

    def test_stopping_asks_who_drives_it_and_nobody_else(self):
        self.assertEqual(control.stop({"sweep": "a-sweep-1"}, self.channel), {"driver": None})
        self.assertFalse((self.root / "sweeps/a-sweep-1/stop.json").exists())
        self.hold("a-sweep-1", b"")
        self.assertEqual(
            control.stop({"sweep": "a-sweep-1", "seconds": 0}, self.channel), {"driver": "another process"}
        )
        self.assertTrue((self.root / "sweeps/a-sweep-1/stop.json").exists())

    def test_a_sweep_that_is_driven_is_not_removed(self):
        self.hold("a-sweep-1", b"")
        self.assertEqual(self.code(control.remove, {"sweep": "a-sweep-1"})[0], "CONFLICT")
        self.make("c-sweep-1", "c", 1.0)
        self.assertEqual(control.remove({"sweep": "c-sweep-1"}, self.channel), {"removed": "c-sweep-1"})

    def test_names_lead_nowhere_else(self):
        for name in ("../x", "", ".hidden", "a/b"):
            self.assertEqual(self.code(control.show, {"sweep": name})[0], "USAGE")
        self.assertEqual(
            self.code(control.drive, {"sweep": "none", "python": sys.executable}),
            ("NOT_FOUND", "there is no sweep none"),
        )

    def test_an_engine_that_does_not_start_says_why(self):
        self.assertEqual(
            self.code(control.drive, {"sweep": "a-sweep-1", "python": "/bin/false"}),
            ("REMOTE_FAILED", "the sweep a-sweep-1 cannot go on: its engine ended with 1"),
        )

"""Who repairs a run and a supervisor that begins exclude each other."""

import json
import tempfile
import threading
import time
import unittest
from pathlib import Path

from flexrack_node.run.files import RunFolder
from flexrack_node.runs import repair


class RepairTest(unittest.TestCase):
    def setUp(self) -> None:
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.path = Path(temp.name) / "runs" / "digits-1"
        self.path.mkdir(parents=True)
        spec = {
            "schema": 1,
            "run": "digits-1",
            "node": "node-1",
            "nodes": ["node-1"],
            "root": temp.name,
            "launcher": "plain",
            "processes": 1,
            "gang": {"secret": "s", "address": "127.0.0.1", "port": 0},
        }
        (self.path / "spec.json").write_text(json.dumps(spec))

    def test_nothing_is_written_while_a_supervisor_lives(self) -> None:
        self.assertTrue(RunFolder(self.path).hold())
        repair.close_cut(RunFolder(self.path), "nobody wants it")
        repair._close(RunFolder(self.path))  # the supervisor has begun between the look and this
        self.assertFalse((self.path / "result.json").exists())

    def test_a_supervisor_that_begins_meanwhile_waits_and_finds_the_result(self) -> None:
        repairer, supervisor, seen = RunFolder(self.path), RunFolder(self.path), []

        def begin() -> None:
            seen.append((supervisor.hold(), (self.path / "result.json").exists()))

        with repairer.unsupervised() as is_alone:
            self.assertTrue(is_alone)
            self.assertEqual((repairer.is_held(), RunFolder(self.path).is_held()), (False, True))
            beginning = threading.Thread(target=begin)
            beginning.start()
            time.sleep(0.2)
            self.assertEqual(seen, [])
            (self.path / "result.json").write_text("{}")
        beginning.join()
        self.assertEqual(seen, [(True, True)])
        self.assertTrue(RunFolder(self.path).is_held())

    def test_who_only_looks_keeps_no_supervisor_from_beginning(self) -> None:
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                RunFolder(self.path).is_held()

        (self.path / "lock").touch()
        lookers = [threading.Thread(target=look) for _ in range(4)]
        for one in lookers:
            one.start()
        try:
            self.assertTrue(RunFolder(self.path).hold())
        finally:
            done.set()
            for one in lookers:
                one.join()


if __name__ == "__main__":
    unittest.main()

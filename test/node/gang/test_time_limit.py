"""When a run is over that has declared how long it takes."""

import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.gang.time_limit import TimeLimit
from flexrack_node.run.files import RunFolder


class TimeLimitTest(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        (Path(temp.name) / "digits-1").mkdir()
        self.folder = RunFolder(Path(temp.name) / "digits-1")

    def asked(self, limit, age=0.0, resumed=False):
        spec = {"grace": 5, "created": time.time() - age}
        if limit is not None:
            spec["time_limit"] = limit
        TimeLimit(self.folder, spec, resumed).apply()
        return self.folder.stop_request()

    def test_it_counts_from_the_first_leaders_start_and_for_later_ones_from_when_the_run_was_made(self):
        self.assertIsNone(self.asked(None, age=9999.0, resumed=True))
        self.assertIsNone(self.asked(3600, age=9999.0))
        self.assertIsNone(self.asked(3600, age=60.0, resumed=True))
        request = self.asked(3600, age=9999.0, resumed=True)
        self.assertEqual((request["grace"], request["kill"]), (5, False))
        self.assertIn("time limit of 3600 s", request["by"])

    def test_who_asked_before_is_not_written_over(self):
        self.folder.write("stop", {"grace": 1, "kill": True, "by": "ada"})
        self.assertEqual(self.asked(1, age=9999.0, resumed=True)["by"], "ada")


if __name__ == "__main__":
    unittest.main()

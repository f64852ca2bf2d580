"""Parts of a rank's log, as the rack's page shows them."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.run.files import RunFolder
from flexrack_node.runs import window


class Window(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = RunFolder(Path(folder.name) / "digits-ab12c")
        for attempt in (1, 2):
            self.run_folder.attempt(attempt).mkdir(parents=True)
        self._write(1, 0, b"first attempt\n")

    def _write(self, attempt, rank, data):
        (self.run_folder.attempt(attempt) / f"rank-{rank}.log").write_bytes(data)

    def _read(self, live=False, **given):
        return window.read([self.run_folder], {"run": "digits-ab12c", **given}, live)

    def test_the_end_of_a_long_log_begins_with_a_whole_line(self):
        lines = [b"step %d loss 0.5\n" % number for number in range(50_000)]
        self._write(2, 3, b"".join(lines))
        read = self._read()
        self.assertEqual((read["rank"], read["attempt"], read["attempts"]), (3, 2, [1, 2]))
        self.assertEqual(read["to"], read["size"])
        self.assertLessEqual(read["to"] - read["from"], window.LIMIT)
        self.assertRegex(read["text"].splitlines()[0], r"^step \d+ loss 0.5$")
        self.assertEqual(read["text"].splitlines()[-1], "step 49999 loss 0.5")

    def test_from_offset_to_offset_nothing_is_lost_or_doubled(self):
        data = "".join(f"line {number} ü\n" for number in range(40_000)).encode()
        self._write(2, 0, data)
        got, at = "", 0
        while at < len(data):
            read = self._read(**{"from": at})
            self.assertEqual(read["from"], at)
            got, at = got + read["text"], read["to"]
        self.assertEqual(got.encode(), data)

    def test_a_line_that_is_being_written_comes_when_it_is_whole_or_the_run_is_over(self):
        self._write(2, 0, b"whole\nhal")
        self.assertEqual(self._read(live=True)["text"], "whole\n")
        self.assertEqual(self._read(live=True, **{"from": 6})["to"], 6)
        self.assertEqual(self._read()["text"], "whole\nhal")
        self.assertEqual(self._read(**{"from": 6})["text"], "hal")

    def test_a_line_without_end_comes_in_pieces(self):
        self._write(2, 0, b"x" * (window.LIMIT + 10))
        first = self._read(live=True, **{"from": 0})
        self.assertEqual(first["to"], window.LIMIT)
        self.assertEqual(self._read(**{"from": first["to"]})["text"], "x" * 10)

    def test_the_first_failure_and_a_text_are_found(self):
        before = b"".join(b"step %d\n" % number for number in range(30_000))
        self._write(2, 0, before + b"Traceback (most recent call last):\nValueError: boom\n" + before)
        read = self._read(failure=True)
        self.assertEqual(read["found"], len(before))
        self.assertIn("Traceback", read["text"])
        self.assertEqual(self._read(search="valueerror")["found"], len(before) + 35)
        self.assertIsNone(self._read(search="vAlueerror")["found"], "capital letters count")
        self.assertIsNone(self._read(search="valueerror", after=len(before) + 40)["found"])
        self.assertEqual(self._read(search=".*")["found"], None, "it is no pattern")

    def test_a_line_without_end_is_not_searched_again_for_each_word_in_it(self):
        log = b"Error " * 20_000
        self._write(2, 0, log)
        with mock.patch.object(window, "_FAILURE", mock.Mock(search=mock.Mock(return_value=None))) as pattern:
            self.assertIsNone(self._read(failure=True)["found"])
        self.assertLess(pattern.search.call_count, 20)
        for beside in range(-30, 31, 5):  # also around where it goes on
            place = window._LONGEST_LINE - window._LONGEST_FAILURE + beside
            self._write(2, 0, b"Error " + b"-" * (place - 6) + b" ValueError: x " + log)
            self.assertEqual(self._read(failure=True)["found"], 0)

    def test_what_is_not_there_is_told(self):
        for given in ({"rank": 9}, {"attempt": 7}, {"attempt": 2}):
            with self.assertRaises(NodeError) as caught:
                self._read(**given)
            self.assertEqual(caught.exception.code, "NOT_FOUND")

    def test_an_empty_log_is_empty(self):
        self._write(2, 0, b"")
        self.assertEqual(self._read(search="a")["text"], "")
        self.assertEqual(self._read(failure=True)["found"], None)


if __name__ == "__main__":
    unittest.main()

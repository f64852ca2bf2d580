"""Lines of a caller, until it has gone or fallen silent."""
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "node"))

from flexrack_node import hearing  # noqa: E402


class Lines(unittest.TestCase):
    def setUp(self):
        self.read, self.write = os.pipe()
        self.is_open = True

    def tearDown(self):
        os.close(self.read)
        self.end()

    def end(self):
        if self.is_open:
            os.close(self.write)
        self.is_open = False

    def test_lines_come_whole_however_they_were_cut(self):
        heard = hearing.lines(self.read, 60.0)
        os.write(self.write, b"one\ntwo\nth")
        self.assertEqual([next(heard), next(heard)], [b"one", b"two"])
        os.write(self.write, b"ree\nfo")
        self.assertEqual(next(heard), b"three")
        self.end()
        self.assertEqual(list(heard), [])

    def test_silence_is_an_end(self):
        os.write(self.write, b"one\n")
        self.assertEqual(list(hearing.lines(self.read, 0.05)), [b"one"])


if __name__ == "__main__":
    unittest.main()

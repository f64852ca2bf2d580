"""Lines of a caller, until it has gone or fallen silent."""

import os
import unittest

from flexrack_node.base import line_reader


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
        heard = line_reader.lines(self.read, 60.0)
        os.write(self.write, b"one\ntwo\nth")
        self.assertEqual([next(heard), next(heard)], [b"one", b"two"])
        os.write(self.write, b"ree\nfo")
        self.assertEqual(next(heard), b"three")
        self.end()
        self.assertEqual(list(heard), [])

    def test_silence_is_an_end(self):
        os.write(self.write, b"one\n")
        self.assertEqual(list(line_reader.lines(self.read, 0.05)), [b"one"])

import unittest

from flexrack_node.workspace import fetch_wheels

LOCK = """--index-url https://a.example/simple
# made by somebody
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
beta==1.0 ; sys_platform == "win32" --hash=sha256:cc
gamma[plot]==1.0 ; python_full_version < "3.11.3" and platform_machine == "aarch64" \\
    --hash=sha256:dd
"""


class CountingTest(unittest.TestCase):
    """By pip's own reader of markers."""

    def lines(self, machine, python, micro):
        return fetch_wheels.counting(LOCK, machine, python, micro).split("\n")

    def test_what_counts_there_and_not_here(self):
        self.assertEqual(
            self.lines("x86_64", "3.11", "0"),
            ["--index-url https://a.example/simple", "", "alpha==1.0 --hash=sha256:aa --hash=sha256:bb", ""],
        )

    def test_micro_versions_of_python_are_told_apart(self):
        self.assertIn("gamma[plot]==1.0 --hash=sha256:dd", self.lines("aarch64", "3.11", "0"))
        self.assertNotIn("gamma[plot]==1.0 --hash=sha256:dd", self.lines("aarch64", "3.11", "99"))

    def test_the_c_library_may_be_old(self):
        names = fetch_wheels.platforms("x86_64")[1::2]
        self.assertEqual((names[0], names[-1]), ("manylinux_2_28_x86_64", "linux_x86_64"))
        self.assertIn("manylinux1_x86_64", names)
        self.assertNotIn("manylinux1_aarch64", fetch_wheels.platforms("aarch64"))

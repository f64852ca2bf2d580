"""What a start of the node program imports. Every command waits for several of them, and each module of ours costs a
part of a millisecond, ssl and its like up to ten. No clock is asked: bench/results has times.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "node" / "flexrack_node"
HEAVY = {
    "ssl",
    "http.client",
    "urllib.request",
    "asyncio",
    "zipfile",
    "configparser",
    "multiprocessing",
    "unittest",
    "email",
    "logging",
    "dataclasses",
    "inspect",
}
# OpenSSL, compressors and a tokenizer: imported in the functions that use them, and never by what only looks.
LATE = {"hashlib", "shutil", "traceback"}
LOOKS = {"run.list", "reservation.list"}
# What stays with a run on each of its nodes, and what begins each rank. HTTP and TLS are read where a run is tracked.
STAYING = ("gang.supervisor", "gang.reaper", "rank.rank")
# Modules of ours, packages included. To be lowered where they can be; who needs more says here why.
# reservation.list: how places are given is a module of its own, for supervisors that take theirs again.
MOST = {None: 6, "run.list": 18, "workspace.list": 19, "node.installed": 37, "reservation.list": 21, "usage.read": 34}


def imported(verb, module="__main__"):
    """Every module that a verb imports in a folder where there is nothing; without a verb, what a module imports: the
    program before it knows which verb.
    """
    with tempfile.TemporaryDirectory() as root:
        words = (
            [str(PROGRAM), verb, root, f"{root}/environments"]
            if verb
            else ["-c", f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import flexrack_node.{module}"]
        )
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-I", "-S", *words], input=b"null\n", capture_output=True, check=True
        )
    return set(re.findall(r"^import time: .*\| +(\S+)$", done.stderr.decode(), re.MULTILINE))


class StartupTest(unittest.TestCase):
    def test_a_verb_imports_what_it_needs_and_nothing_heavy(self):
        for verb, most in MOST.items():
            with self.subTest(verb):
                found = imported(verb)
                own = sorted(name for name in found if name.split(".")[0] == "flexrack_node")
                self.assertLessEqual(len(own), most, own)
                self.assertGreaterEqual(len(own), most - 2, "fewer: lower the number")
                self.assertEqual(found & HEAVY, set())
                self.assertEqual(found & LATE if verb in LOOKS else set(), set())

    def test_what_stays_with_a_run_reads_what_speaks_http_only_where_it_is_tracked(self):
        for module in STAYING:
            with self.subTest(module):
                self.assertEqual(imported(None, module) & (HEAVY | {"concurrent.futures"}), set())

    def test_types_of_the_protocol_are_for_type_checkers_alone(self):
        self.assertEqual(
            [name for verb in MOST for name in imported(verb) if name.startswith("flexrack_node.schema")], []
        )

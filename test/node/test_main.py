import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from places import PROGRAM
from waiting import LONG

TRY = """
import errno, time
from .base.errors import NodeError
def full(value, channel):
    raise OSError(errno.ENOSPC, "No space left on device", value["path"])
def odd(value, channel):
    raise OSError(errno.ECONNREFUSED, "Connection refused")
def refused(value, channel):
    raise NodeError("LOCKED", "taken", "wait", holder="me")
def wait(value, channel):
    try:
        channel.event("ready")
        time.sleep(60)
    finally:
        open(value["mark"], "w").write("tidied")
def echo(value, channel):
    channel.event("seen", body=channel.body.read().decode())
    return {"value": value, "root": str(channel.root)}
"""


class MainTest(unittest.TestCase):
    """The program as it is started on a node, with verbs of our own beside its own."""

    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.folder = Path(self.temp.name) / "flexrack_node"
        shutil.copytree(PROGRAM, self.folder, ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "trial.py").write_text(TRY)
        with open(self.folder / "verbs" / "__init__.py", "a") as file:
            file.write(
                '\nVERBS.update({f"trial.{name}": f"trial:{name}" for name in ("full", "odd", "refused", "wait", "echo")})\n'
            )

    def tearDown(self):
        self.temp.cleanup()

    def start(self, verb):
        argv = [sys.executable, "-I", "-B", str(self.folder), verb, "/the/root", "/the/environments"]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, verb, value, body=""):
        out, _ = self.start(verb).communicate(json.dumps(value) + "\n" + body, timeout=LONG)
        return [json.loads(line) for line in out.splitlines()]

    def test_input_body_events_and_result_travel_as_lines(self):
        lines = self.call("trial.echo", {"a": "ü\n"}, "the body\nof it")
        self.assertEqual(
            lines,
            [{"event": "seen", "body": "the body\nof it"}, {"result": {"value": {"a": "ü\n"}, "root": "/the/root"}}],
        )

    def test_errors_travel_with_code_hint_and_details(self):
        self.assertEqual(
            self.call("trial.refused", None),
            [{"error": {"code": "LOCKED", "message": "taken", "hint": "wait", "details": {"holder": "me"}}}],
        )

    def test_a_full_disk_is_no_bug_wherever_it_shows(self):
        error = self.call("trial.full", {"path": "/data/x"})[0]["error"]
        self.assertEqual(
            (error["code"], error["message"]), ("NODE_UNFIT", "/data/x cannot be written or read: the disk is full")
        )

    def test_other_errors_and_unknown_verbs_are_bugs_and_told_whole(self):
        self.assertIn("ConnectionRefusedError", self.call("trial.odd", {})[0]["error"]["details"]["trace"])
        self.assertEqual(self.call("no.such", {})[0]["error"]["code"], "BUG")

    def test_sigterm_lets_a_verb_tidy_up(self):
        mark = Path(self.temp.name) / "mark"
        process = self.start("trial.wait")
        process.stdin.write(json.dumps({"mark": str(mark)}) + "\n")
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline()), {"event": "ready"})
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual(mark.read_text(), "tidied")

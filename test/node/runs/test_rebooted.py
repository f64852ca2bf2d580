"""What ended a run: a reboot of its node, a shutdown, or the death of its supervisor. The machine is made of
namespaces; only root may make one.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import reboot_support
from messages import check_files, check_lines
from places import verb_words
from waiting import LONG, until

RANK = "import pathlib, time; pathlib.Path('up').touch()\nwhile True: time.sleep(0.05)"


class RebootedTest(unittest.TestCase):
    @unittest.skipIf(reboot_support.missing("nothing"), reboot_support.missing("nothing"))
    def test_a_reboot_is_told_from_a_shutdown_and_from_a_killed_supervisor(self):
        reboot_support.play("nothing", os.path.abspath(__file__))


def first(home):
    (home / "bin").mkdir()
    (home / "bin" / "systemctl").write_text("#!/bin/sh\necho stopping\nexit 1\n")
    (home / "bin" / "systemctl").chmod(0o755)
    for run in ("cut", "killed", "down", "asked", "old"):
        start(home, run)
    os.kill(supervisor(home, "killed"), signal.SIGKILL)
    os.kill(supervisor(home, "asked"), signal.SIGTERM)
    os.kill(supervisor(home, "down"), signal.SIGTERM)
    for run, said in (
        ("killed", ("failed", "supervisor", "the supervisor was killed while the run was going on")),
        ("asked", ("stopped", None, None)),
        ("down", ("failed", "reboot", "the shutdown of node-1 ended the run")),
    ):
        assert ended(home, run) == said, (run, ended(home, run))


def second(home):
    state = home / "node" / "runs" / "old" / "state.json"  # of a supervisor that said no boot
    state.write_text(json.dumps({key: value for key, value in json.loads(state.read_text()).items() if key != "boot"}))
    assert ended(home, "old") == (
        "failed",
        None,
        "the supervisor was killed, or the node was restarted, while the run was going on",
    ), ended(home, "old")
    assert ended(home, "cut") == ("failed", "reboot", "node-1 was rebooted while the run was going on"), ended(
        home, "cut"
    )
    listed = {one["run"]: (one["cause"] or {}).get("lost") for one in call(home, "cut", "run.list", None)}
    assert listed == {"cut": "reboot", "killed": "supervisor", "down": "reboot", "asked": None, "old": None}, listed
    check_files(home / "node")


def start(home, run):
    code = home / "code" / run
    code.mkdir(parents=True)
    (code / "train.py").write_text(RANK)
    gang = {"secret": secrets.token_hex(32), "address": "127.0.0.1", "port": 0, "timeout": LONG}
    call(
        home,
        run,
        "run.start",
        {
            "run": run,
            "project": "test",
            "nodes": ["node-1"],
            "launcher": "plain",
            "processes": 1,
            "command": ["train.py"],
            "python": sys.executable,
            "cwd": str(code),
            "env": {},
            "environment": None,
            "commit": None,
            "owner": "me@here",
            "restarts": 0,
            "grace": 5,
            "outputs": [],
            "address": "127.0.0.1",
            "neighbours": 1,
            "tracking": None,
            "created": time.time(),
            "node": "node-1",
            "index": 0,
            "gang": gang,
        },
    )
    until((code / "up").exists)


def ended(home, run):
    """(status, what was lost, message), once it is over."""
    found = call(home, run, "run.state", {"run": run, "wait": LONG})
    cause = found["cause"] or {}
    return found["status"], cause.get("lost"), cause.get("message")


def supervisor(home, run):
    return json.loads((home / "node" / "runs" / run / "state.json").read_text())["pid"]


def call(home, run, verb, given):
    """The machine of the run `down` has a systemctl that says that it goes down, as systemd's does then; no other has
    one that answers.
    """
    path = f"{home / 'bin'}:{os.environ['PATH']}" if run == "down" else os.environ["PATH"]
    done = subprocess.run(
        verb_words(verb, home / "node", home / "environments"),
        input=json.dumps(given) + "\n",
        text=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PATH": path},
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    check_lines(verb, given, lines)
    assert "result" in lines[-1], lines
    return lines[-1]["result"]


if __name__ == "__main__" and sys.argv[1] in ("first", "second"):
    {"first": first, "second": second}[sys.argv[1]](Path(sys.argv[2]))

"""Runs that go on after a reboot, with a real cron, a real service manager of systemd, and neither; the machine is made
of namespaces, and only root may make one.
"""

import contextlib
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
from flexrack_node.base.boot import boot_id
from messages import check_files, check_lines
from places import verb_words
from waiting import LONG, until

# Saves, says where it began, and is done in its attempt LAST; ends well when it is told to.
SCRIPT = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
k, found = int(os.environ["FLEXRACK_ATTEMPT"]), os.environ.get("FLEXRACK_CHECKPOINT")
pathlib.Path("began-%d" % k).write_text(pathlib.Path(found).read_text() if found else "the beginning")
if SAVES:
    folder = pathlib.Path(os.environ["FLEXRACK_OUTPUTS"]) / "checkpoints"
    folder.mkdir(exist_ok=True)
    (folder / ".part").write_text("attempt %d" % k)
    (folder / ".part").replace(folder / "last.txt")
pathlib.Path("up-%d" % k).touch()
while k < LAST: time.sleep(0.05)
"""
CHECKPOINT = {"path": "checkpoints/"}


class TakenUpTest(unittest.TestCase):
    @unittest.skipIf(reboot_support.missing("cron"), reboot_support.missing("cron"))
    def test_cron_takes_runs_up_after_two_power_cuts(self):
        reboot_support.play("cron", os.path.abspath(__file__))

    @unittest.skipIf(reboot_support.missing("systemd"), reboot_support.missing("systemd"))
    def test_systemd_takes_runs_up_after_a_power_cut_and_a_shutdown_in_order(self):
        reboot_support.play("systemd", os.path.abspath(__file__))

    @unittest.skipIf(reboot_support.missing("nothing"), reboot_support.missing("nothing"))
    def test_a_stop_before_it_is_taken_up_wins(self):
        reboot_support.play("nothing", os.path.abspath(__file__))


def first(home):
    start(home, "saves", last=3)
    start(home, "bare", last=3, saves=False)
    start(home, "anew", last=2, saves=False, after_reboot="anew")
    start(home, "once", last=3, restarts=1)
    start(home, "stays", last=3, after_reboot=None)
    found = {one["run"]: one["why"] for one in call(home, "boot.inspect", {})["runs"]}
    expected = {
        "saves": None,
        "bare": "there is no whole checkpoint of it",
        "anew": None,
        "once": None,
        "stays": "its manifest allows no restart, or none after a reboot",
    }
    if os.environ["KEEPER"] == "nothing":
        assert found["saves"].startswith("nobody would start it: "), found
        found = {**found, **dict.fromkeys(("saves", "anew", "once"))}
    assert found == expected, found


def second(home):
    keeper = os.environ["KEEPER"]
    if keeper == "nothing":
        before_it_is_taken_up(home)
        return
    until((code(home, "saves") / "up-2").exists)
    assert (code(home, "saves") / "began-2").read_text() == "attempt 1"
    listed = {one["run"]: one for one in call(home, "run.list", None)}
    assert (
        listed["saves"]["status"],
        listed["saves"]["live"],
        listed["saves"]["returned"],
        listed["saves"]["attempt"],
    ) == ("running", True, 1, 2), listed["saves"]
    # Its reservation ended with the boot, and is its own again.
    assert [
        one["lease"] for one in call(home, "reservation.list", None)["reservations"] if one["lease"] == "saves"
    ] == ["saves"]
    assert ended(home, "anew")[0] == "finished"
    assert (code(home, "anew") / "began-2").read_text() == "the beginning"
    assert ended(home, "bare") == (
        "failed",
        "reboot",
        "node-1 was rebooted while the run was going on; it does not go on: there is no whole checkpoint of it",
    ), ended(home, "bare")
    assert ended(home, "stays")[:2] == ("failed", "reboot")
    until((code(home, "once") / "up-2").exists)
    assert call(home, "boot.inspect", {})["runs"][-1]["run"] in ("saves", "once")
    if keeper == "systemd":
        down_in_order(home)


def third(home):
    if os.environ["KEEPER"] == "nothing":
        return
    done = (
        call(home, "run.state", {"run": "saves", "wait": LONG})
        if until((code(home, "saves") / "up-3").exists)
        else None
    )
    assert (done["status"], done["returned"]) == ("finished", 2), done
    assert (code(home, "saves") / "began-3").read_text() == "attempt 2"
    attempts = done["result"]["attempts"]
    assert [(one["status"], (one["cause"] or {}).get("lost")) for one in attempts] == [
        ("failed", "reboot"),
        ("failed", "reboot"),
        ("finished", None),
    ], attempts
    assert [one["why"] for one in attempts] == ["start", "node-1 was rebooted", "node-1 was rebooted"], attempts
    until(lambda: call(home, "run.state", {"run": "once"})["result"])
    assert ended(home, "once")[:2] == ("failed", "reboot") and ended(home, "once")[2].endswith(
        "it does not go on: its restarts (1) are used up"
    ), ended(home, "once")
    # Nothing is to come back any more: whoever starts it is taken away.
    until(lambda: not (home / "node" / "boot" / "settings.json").exists())
    spool = home / "spool" / "root"
    assert not spool.exists() or "flexrack" not in spool.read_text(), spool.read_text()
    assert not list((home / ".config").rglob("flexrack*")), list((home / ".config").rglob("*"))
    check_files(home / "node")


def before_it_is_taken_up(home):
    """Nobody takes it up by itself here; a call of the script that systemd or cron would run does, but for what was
    stopped.
    """
    found = call(home, "run.state", {"run": "saves"})
    assert (found["status"], found["live"], found["result"]) == ("waiting", True, None), found
    assert call(home, "run.stop", {"run": "saves"})["status"] == "stopped"
    resume = subprocess.Popen(["/bin/sh", str(home / "node" / "boot" / "resume")])
    until((code(home, "once") / "up-2").exists)
    assert ended(home, "saves") == ("stopped", None, None), ended(home, "saves")
    assert not (code(home, "saves") / "up-2").exists()
    assert call(home, "run.stop", {"run": "once"})["status"] == "stopped"
    until(lambda: resume.poll() is not None)
    check_files(home / "node")


def down_in_order(home):
    """The service manager ends; of root it has no processes, which get their SIGTERM from systemd-shutdown, all at
    once.
    """
    subprocess.run(["systemctl", "--user", "--no-block", "exit"], check=True)
    until(
        lambda: (
            "stopping"
            in subprocess.run(
                ["systemctl", "--user", "is-system-running"], capture_output=True, text=True, check=False
            ).stdout
        )
    )
    pids = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if b"gang.supervisor" in path.read_bytes() or b"train.py" in path.read_bytes()
    ]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    pid = json.loads((run_folder(home, "saves") / "state.json").read_text())["pid"]
    assert pid in pids
    until(lambda: not Path(f"/proc/{pid}").exists())
    kept = json.loads((run_folder(home, "saves") / "state.json").read_text())
    assert kept["down"] == boot_id() and not (run_folder(home, "saves") / "result.json").exists(), kept
    found = call(home, "run.state", {"run": "saves"})
    assert (found["status"], found["live"]) == ("waiting", True), found


def start(home, run, last, saves=True, restarts=2, after_reboot="checkpoint"):
    folder = code(home, run)
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(SCRIPT.replace("SAVES", str(saves)).replace("LAST", str(last)))
    gang = {"secret": secrets.token_hex(32), "address": "127.0.0.1", "port": 0, "timeout": LONG}
    wants = {"gpus": [], "slots": 1, "exclusive": False}
    taken = call(
        home,
        "reservation.take",
        {
            "lease": run,
            "owner": "me@here",
            "project": "test",
            "node": "node-1",
            "nodes": ["node-1"],
            "ttl": 60,
            "wants": wants,
        },
    )
    lease = {"lease": run, "fence": taken["fence"]}
    call(home, "reservation.confirm", lease)
    call(
        home,
        "run.start",
        {
            "run": run,
            "project": "test",
            "nodes": ["node-1"],
            "launcher": "plain",
            "processes": 1,
            "command": ["train.py"],
            "python": sys.executable,
            "cwd": str(folder),
            "env": {},
            "environment": None,
            "commit": None,
            "owner": "me@here",
            "restarts": restarts,
            "checkpoint": CHECKPOINT,
            "grace": 5,
            "outputs": [],
            "address": "127.0.0.1",
            "neighbours": 1,
            "tracking": None,
            "created": time.time(),
            "node": "node-1",
            "index": 0,
            "gang": gang,
            "reservation": lease,
            **({"after_reboot": after_reboot} if after_reboot else {}),
        },
    )
    until((folder / "up-1").exists)


def ended(home, run):
    """(status, what was lost, message), once it is over."""
    found = call(home, "run.state", {"run": run, "wait": LONG})
    cause = found["cause"] or {}
    return found["status"], cause.get("lost"), cause.get("message")


def code(home, run):
    return home / "code" / run


def run_folder(home, run):
    return home / "node" / "runs" / run


def call(home, verb, given):
    done = subprocess.run(
        verb_words(verb, home / "node", home / "environments"),
        input=json.dumps(given) + "\n",
        text=True,
        stdout=subprocess.PIPE,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    check_lines(verb, given, lines)
    assert "result" in lines[-1], lines
    return lines[-1]["result"]


if __name__ == "__main__" and sys.argv[1] in ("first", "second", "third"):
    {"first": first, "second": second, "third": third}[sys.argv[1]](Path(sys.argv[2]))

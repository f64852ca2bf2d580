"""The GPU daemon's unit with a real service manager of systemd, in a mount namespace of its own; only root may make
one.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.gpu import unit
from flexrack_node.service import systemd
from waiting import LONG

SYSTEMD = "/lib/systemd/systemd"
# A broker with a worker in a session of its own, and what it was given.
DAEMON = """import json, os, subprocess, sys, time
folder = sys.argv[1]
worker = os.path.join(folder, "worker")
if not os.path.exists(worker):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    open(worker, "w").write(str(child.pid))
with open(os.path.join(folder, "starts"), "a") as file:
    file.write(json.dumps({"pid": os.getpid(), "argv": sys.argv[2:], "env": os.environ.get("GIVEN")}) + "\\n")
time.sleep(600)
"""
# Started inside the namespace: systemd refuses to run where /run/systemd/system is not there.
INSIDE = """mount -t tmpfs none /run/systemd && mkdir /run/systemd/system
{systemd} --user --log-target=console >"$HOME/log" 2>&1 & manager=$!
PYTHONPATH={node} {python} {test} inside "$HOME"; status=$?
kill $manager; wait $manager; exit $status
"""


def has_namespaces() -> bool:
    return (
        Path(SYSTEMD).exists()
        and subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
        ).returncode
        == 0
    )


class GpuUnitTest(unittest.TestCase):
    def test_words_stay_words(self):
        self.assertEqual(systemd.quote('a b"c\\d%e$f'), '"a b\\"c\\\\d%%e$$f"')
        text = unit.unit_text(["/a b/gpud", "broker"], {"POCL_DEVICES": "pthread pthread"})
        self.assertIn('ExecStart="/a b/gpud" "broker"\n', text)
        self.assertIn('Environment="POCL_DEVICES=pthread pthread"\n', text)
        self.assertIn("KillMode=process\n", text)
        # Links to units lie in the home, which machines may share.
        self.assertIn(f"[Unit]\nConditionHost={os.uname().nodename}\n", text)

    @unittest.skipUnless(has_namespaces(), "needs systemd, and root for a mount namespace")
    def test_the_unit_comes_back_alone_its_workers_outlive_it_and_nothing_is_left(self):
        home = tempfile.mkdtemp(prefix="flexrack-unit-", dir="/tmp")
        script = INSIDE.format(
            systemd=SYSTEMD,
            python=sys.executable,
            test=os.path.abspath(__file__),
            node=f"{Path(unit.__file__).parents[2]}:{Path(__file__).parents[1]}",
        )
        env = {key: value for key, value in os.environ.items() if not key.startswith("FLEXRACK_")}
        try:
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", script],
                env={**env, "HOME": home, "XDG_RUNTIME_DIR": home},
                capture_output=True,
                text=True,
                timeout=LONG,
                check=False,
            )
            self.assertEqual(
                (done.returncode, done.stdout.strip().splitlines()[-1:]), (0, ["good"]), done.stdout + done.stderr
            )
        finally:
            shutil.rmtree(home, ignore_errors=True)


def inside(home: Path) -> None:
    until(systemd.is_usable, "a service manager")
    folder = home / "a folder" / "gpu"
    folder.mkdir(parents=True)
    (folder / "daemon.py").write_text(DAEMON)
    argv = [sys.executable, str(folder / "daemon.py"), str(folder), '50 % "of" $HOME']

    def starts():
        file = folder / "starts"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    assert unit.start(folder, argv, {"GIVEN": "one two"})
    until(lambda: len(starts()) == 1, "the first start")
    assert starts()[0]["argv"] == ['50 % "of" $HOME'] and starts()[0]["env"] == "one two", starts()
    worker = int((folder / "worker").read_text())
    assert not unit.start(folder, argv, {"GIVEN": "one two"}), "the same again starts nothing"
    os.kill(starts()[0]["pid"], 9)
    until(lambda: len(starts()) == 2, "started again after a kill")
    assert unit.start(folder, argv, {"GIVEN": "else"}), "another one replaces it"
    until(lambda: len(starts()) == 3 and starts()[2]["env"] == "else", "replaced")
    os.kill(worker, 0)  # raises if it is gone
    unit.remove(folder)
    assert not unit.unit_path(folder).exists()
    assert not list((home / ".config").rglob("*.service")), list((home / ".config").rglob("*"))
    until(lambda: not Path(f"/proc/{starts()[2]['pid']}").exists(), "its end")
    try:
        os.kill(worker, 9)  # workers are the daemon's to end; systemd may have done it
    except ProcessLookupError:
        pass
    print("good")


def until(condition, what):
    end = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"did not happen: {what}")
        time.sleep(0.05)


if __name__ == "__main__" and sys.argv[1:2] == ["inside"]:
    inside(Path(sys.argv[2]))

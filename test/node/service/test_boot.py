"""Services after a reboot, with a real service manager of systemd and a real cron, on a machine made of namespaces;
only root may make one.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import reboot_support
from flexrack_node.base import installed
from flexrack_node.base.boot import boot_id
from flexrack_node.base.channel import Channel
from flexrack_node.base.stored import write
from flexrack_node.gpu import unit
from flexrack_node.service import boot, comeback, control, crontab, systemd
from flexrack_node.service.record import ServiceRecord
from messages import check_files, check_lines
from waiting import until

# Says who it is, and what of the session it has been given.
PROGRAM = "import os, sys, time; print('up', os.environ.get('TOKEN'), os.environ.get('TZ'), flush=True)\nwhile True: time.sleep(0.05)"
GPU_DAEMON = "import sys, time; open(sys.argv[1], 'a').write('up '); time.sleep(600)"
FOREIGN = "# mine\n17 3 * * * /bin/true 100\\%\n"


class BootTest(unittest.TestCase):
    def test_lines_and_units_take_any_folder(self):
        root = Path('/data/it\'s 50 % "of" $HOME')
        self.assertEqual(
            subprocess.run(
                ["sh", "-c", f"printf %s {comeback.script(root)}"], capture_output=True, text=True, check=True
            ).stdout,
            f"{root}/boot/resume",
        )
        self.assertNotRegex(comeback.command(root), r"(?<!\\)%")
        self.assertIn("50 %% ", comeback.unit_text(root))
        self.assertIn("$$HOME", comeback.unit_text(root))

    def test_of_another_machine_with_this_home_nothing_is_started(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            channel = Channel(root, root / "environments", io.BytesIO())
            comeback.folder(root).mkdir()
            record = ServiceRecord(root, "web")
            record.folder.mkdir(parents=True)
            record.write_spec({"argv": ["/bin/false"]})
            kept = {
                "by": "systemd",
                "why": None,
                "lingers_for_us": False,
                "machine": {"host": "another", "machine": "ab", "addresses": ["02:00:00:00:00:99"]},
                "environment": {},
            }
            write("boot.settings", comeback.folder(root) / "settings.json", kept)
            self.assertEqual(boot.resume(channel, lambda: False), {"started": [], "failed": {}})
            self.assertEqual(record.state(), {})

    def test_without_logind_nobody_would_start_a_unit_and_that_is_what_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            nothing = {"LOGIND": root / "users", "LINGERING": root}
            (root / systemd.account()).touch()
            with (
                unittest.mock.patch.multiple(systemd, is_usable=lambda: True, **nothing),
                unittest.mock.patch.object(crontab, "refusal", lambda: "there is no cron"),
            ):
                self.assertEqual(
                    systemd.linger(True),
                    "systemd-logind does not run here, which would start the services of an account with the machine",
                )
                with unittest.mock.patch.dict(os.environ, {comeback.SWITCH: ""}):
                    self.assertEqual(comeback.look(root), {"by": "none", "why": "there is no cron"})
                self.assertEqual(
                    comeback.use_cron(root, systemd.linger(True))["why"], f"{systemd.linger(True)}; there is no cron"
                )
                (root / "users").mkdir()
                with unittest.mock.patch.dict(os.environ, {comeback.SWITCH: ""}):
                    self.assertEqual(comeback.look(root), {"by": "systemd", "why": None})

    def test_what_cannot_be_read_is_never_written_over(self):
        with unittest.mock.patch.object(
            crontab,
            "call",
            lambda *words, text="": subprocess.CompletedProcess(words, 1, "", "crontab: your account is locked"),
        ):
            with self.assertRaises(crontab.NodeError):
                crontab.put("/bin/true")

    @unittest.skipIf(reboot_support.missing("systemd"), reboot_support.missing("systemd"))
    def test_systemd_brings_services_back(self):
        reboot_support.play("systemd", os.path.abspath(__file__))

    @unittest.skipIf(reboot_support.missing("cron"), reboot_support.missing("cron"))
    def test_cron_brings_services_back(self):
        reboot_support.play("cron", os.path.abspath(__file__))

    @unittest.skipIf(reboot_support.missing("nothing"), reboot_support.missing("nothing"))
    def test_without_either_it_is_said(self):
        reboot_support.play("nothing", os.path.abspath(__file__))


def first(home):
    """Four services; one is stopped on purpose, and one gives up."""
    channel, keeper = machine(home), os.environ["KEEPER"]
    shutil.copytree(
        Path(comeback.__file__).resolve().parents[1], program(channel), ignore=shutil.ignore_patterns("__pycache__")
    )
    installed.record(channel.root, program(channel).parent, "program")
    (channel.root / "program" / "service.py").write_text(PROGRAM)
    if keeper == "cron":
        subprocess.run(["crontab", "-"], input=FOREIGN, text=True, check=True)
    os.environ["TZ"] = "Asia/Tokyo"
    for name in ("web", "stopped", "child"):
        by = start(channel, name)["comes_back"]
        assert by["by"] == {"nothing": "none"}.get(keeper, keeper), by
        assert (by["why"] is None) == (keeper != "nothing"), by
    call(channel, "service.stop", {"id": "stopped", "grace": 2})
    call(channel, "service.start", {"id": "fails", "argv": ["/bin/false"]})
    until(lambda: state(channel, "fails")["state"] == "failed")
    found = call(channel, "boot.inspect", {})
    assert found["wanted"] == ["child", "fails", "web"], found
    assert [one["id"] for one in found["missing"]] == ["fails"], found
    if keeper == "systemd":
        assert not list((home / "spool").iterdir())
        gpu(channel).mkdir()
        unit.start(gpu(channel), [sys.executable, "-c", GPU_DAEMON, str(gpu(channel) / "starts")], {})
        until(lambda: len(starts(channel)) == 1)
    check_no_secret(home)
    outside = call(channel, "node.installed", {})["outside"]
    assert [one.split()[0] for one in outside] == {"systemd": ["systemd"], "cron": ["a"], "nothing": []}[keeper], (
        outside
    )
    (home / "before").write_text(json.dumps({"boot": boot_id(), "pid": state(channel, "web")["pid"]}))


def second(home):
    """All that was wanted runs, once; what was stopped does not."""
    channel, keeper = machine(home), os.environ["KEEPER"]
    before = json.loads((home / "before").read_text())
    assert boot_id() != before["boot"]
    if keeper == "nothing":
        assert state(channel, "web")["state"] == "lost"
        assert [one["id"] for one in call(channel, "boot.inspect", {})["missing"]] == ["child", "fails", "web"]
        return
    for name in ("web", "child"):
        until(lambda name=name: state(channel, name)["state"] == "running")
        until(lambda name=name: "up s3cret Asia/Tokyo" in text(channel, name)[-60:])
    if keeper == "systemd":
        until(lambda: len(starts(channel)) == 2)
    assert state(channel, "stopped")["state"] == "stopped"
    # it gave up before the reboot; what was in its way may be gone
    until(lambda: f"boot {boot_id()[:8]}: started fails" in log(channel))
    pid = state(channel, "web")["pid"]
    # another call, while the first one waits or after it: nothing is started twice
    subprocess.run(["/bin/sh", str(comeback.folder(channel.root) / "resume")], check=True)
    assert state(channel, "web")["pid"] == pid
    check_files(channel.root)
    # Somebody takes it away: it is said.
    assert call(channel, "boot.inspect", {})["comes_back"]["by"] == keeper
    if keeper == "systemd":
        systemd.call("disable", comeback.unit_path(channel.root).name)
    else:
        subprocess.run(["crontab", "-"], input=FOREIGN, text=True, check=True)
    assert call(channel, "boot.inspect", {})["comes_back"]["by"] == "none"
    assert start(channel, "web")["comes_back"]["by"] == keeper, "and a start mends it"


def third(home):
    """Once nothing is wanted any more, nothing of it is left."""
    channel, keeper = machine(home), os.environ["KEEPER"]
    if keeper != "nothing":
        until(lambda: state(channel, "web")["state"] == "running")
    gone = call(channel, "node.uninstall", {"force": True, "grace": 2})
    assert not (channel.root / "boot").exists(), gone
    assert not list((home / ".config").rglob("flexrack*")), list((home / ".config").rglob("*"))
    spool = home / "spool" / "root"
    assert not spool.exists() or "flexrack" not in spool.read_text(), spool.read_text()
    if keeper == "cron":
        assert spool.read_text().endswith(FOREIGN), spool.read_text()
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if b"service.py" in one.read_bytes()]


def machine(home):
    root = home / "my 50% rack"
    return Channel(root, root / "environments", io.BytesIO())


def start(channel, name):
    argv = [sys.executable, str(channel.root / "program" / "service.py")]
    return call(
        channel,
        "service.start",
        {"id": name, "argv": argv, "env": {"TOKEN": "s3cret"}, "grace": 2, "restart": {"max": 3, "window_seconds": 60}},
    )


def gpu(channel):
    return channel.root / "gpu"


def starts(channel):
    path = gpu(channel) / "starts"
    return path.read_text().split() if path.exists() else []


def program(channel):
    return channel.root / "program" / "1" / "flexrack_node"


def call(channel, verb, given):
    """As the command line does over SSH."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program(channel)), verb, str(channel.root), str(channel.environments)],
        input=json.dumps(given) + "\n",
        text=True,
        stdout=subprocess.PIPE,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    check_lines(verb, given, lines)
    assert "result" in lines[-1], lines
    return lines[-1]["result"]


def state(channel, name):
    return control.describe(ServiceRecord(channel.root, name))


def text(channel, name):
    return (ServiceRecord(channel.root, name).folder / "log").read_text()


def log(channel):
    path = comeback.folder(channel.root) / "log"
    return path.read_text() if path.exists() else ""


def check_no_secret(home):
    for folder in (home / "spool", home / ".config", *home.glob("*/boot")):
        for path in folder.rglob("*"):
            assert not path.is_file() or "s3cret" not in path.read_text(), path


if __name__ == "__main__" and sys.argv[1] in ("first", "second", "third"):
    {"first": first, "second": second, "third": third}[sys.argv[1]](Path(sys.argv[2]))

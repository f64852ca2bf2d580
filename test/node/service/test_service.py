"""Services of the node program: real processes, real signals."""

import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.process.containment import tagged_pids
from flexrack_node.process.start import start_time
from flexrack_node.service import control
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord
from flexrack_node.service.supervisor import WELL_SECONDS, Supervisor
from messages import check_files
from waiting import LONG

SLEEPER = [sys.executable, "-c", "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.05)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
    "print('up', flush=True)\nwhile True: time.sleep(0.05)",
]


class ServiceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-service-"))
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())
        self.record = ServiceRecord(self.root, "web")

    def tearDown(self) -> None:
        control.stop({"id": "web", "grace": 1}, self.channel)
        self.assertEqual(tagged_pids(self.record.tag), set())
        check_files(self.root)
        shutil.rmtree(self.root)

    def start(self, argv, **more):
        return control.start({"id": "web", "argv": argv, "env": {"SECRET": "s3"}, "grace": 1, **more}, self.channel)

    def status(self):
        return control.status({"id": "web"}, self.channel)

    def until(self, condition, what):
        end = time.monotonic() + LONG
        while not condition():
            if time.monotonic() > end:
                self.fail(f"did not happen: {what}; {self.record.state()} {self.text()}")
            time.sleep(0.02)

    def text(self) -> str:
        return ServiceLog(self.record.folder).read(0)[1].decode()

    def test_starts_once_and_keeps_its_environment_out_of_sight(self):
        first = self.start(SLEEPER)
        self.until(lambda: "up" in self.text(), "the first line")
        second = self.start(SLEEPER)
        self.assertTrue(first["started"])
        self.assertFalse(second["started"])
        self.assertEqual(self.status()["pid"], second["pid"])
        self.assertEqual((self.record.folder / "spec.json").stat().st_mode & 0o777, 0o600)

    def test_another_command_is_a_conflict_unless_it_replaces(self):
        self.start(SLEEPER)
        with self.assertRaises(NodeError) as caught:
            self.start(["/bin/sleep", "60"])
        self.assertEqual(caught.exception.code, "CONFLICT")
        self.start(["/bin/sleep", "60"], replace=True)
        self.until(lambda: self.status()["state"] == "running", "the replacement runs")

    def test_a_crash_is_followed_by_a_new_start_until_the_limit(self):
        self.start([sys.executable, "-c", "import sys; sys.exit(3)"], restart={"max": 1, "window_seconds": 60})
        self.until(lambda: self.status()["state"] == "failed", "giving up")
        now = self.status()
        self.assertEqual((now["restarts"], now["exit"]["code"]), (1, 3))
        self.assertIn("giving up", self.text())

    def test_pauses_grow_until_one_has_run_for_a_while(self):
        self.start(SLEEPER, restart={"max": 9, "window_seconds": 60})
        supervisor, pauses = Supervisor(self.record), []
        for lived in (0, 0, 0, WELL_SECONDS, 0):
            supervisor.begun = time.monotonic() - lived
            pauses.append(supervisor._pause_after_end())
        self.assertEqual(pauses, [0.5, 1, 2, 0.5, 1])

    def test_a_killed_process_comes_back_under_a_new_pid(self):
        self.start(SLEEPER, restart={"max": 3, "window_seconds": 60})
        self.until(lambda: self.status()["pid"], "a pid")
        old = self.status()["pid"]
        os.kill(old, signal.SIGKILL)
        self.until(lambda: self.status()["pid"] not in (None, old), "a new pid")
        self.assertEqual(self.status()["restarts"], 1)

    def test_a_program_that_is_not_there_fails_and_says_so(self):
        self.start(["/nowhere/program"])
        self.until(lambda: self.status()["state"] == "failed", "failing")
        self.assertIn("cannot start /nowhere/program", self.text())

    def test_stop_ends_what_ignores_sigterm_and_what_left_the_session(self):
        self.start(STUBBORN)
        self.until(lambda: "up" in self.text(), "the first line")
        self.assertGreaterEqual(len(tagged_pids(self.record.tag)), 2)
        stopped = control.stop({"id": "web", "grace": 0.3}, self.channel)
        self.assertTrue(stopped["stopped"])
        self.assertEqual(stopped["state"], "stopped")
        self.assertEqual(tagged_pids(self.record.tag), set())

    def kill_supervisor(self) -> None:
        supervisor = self.record.state()["supervisor"]
        self.assertEqual(start_time(supervisor["pid"]), supervisor["start"])
        os.kill(supervisor["pid"], signal.SIGKILL)
        end = time.monotonic() + LONG
        while self.record.is_supervised():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_the_process_of_a_killed_supervisor_is_adopted_and_still_restarted(self):
        self.start(SLEEPER, restart={"max": 3, "window_seconds": 60})
        self.until(lambda: self.status()["pid"], "a pid")
        old = self.status()["pid"]
        self.kill_supervisor()
        now = self.status()
        self.assertEqual((now["pid"], now["state"], now["supervised"]), (old, "running", True))
        os.kill(old, signal.SIGKILL)
        self.until(lambda: self.status()["pid"] not in (None, old), "a new pid")

    def test_stop_after_the_supervisor_was_killed_leaves_nothing(self):
        self.start(SLEEPER)
        self.until(lambda: "up" in self.text(), "the first line")
        self.kill_supervisor()
        control.stop({"id": "web", "grace": 1}, self.channel)
        self.assertEqual(self.status()["state"], "stopped")
        self.assertEqual(tagged_pids(self.record.tag), set())

    def test_a_supervisor_that_comes_after_the_stop_starts_nothing(self):
        self.start(SLEEPER, define=True)
        command = [sys.executable, str(control.SUPERVISOR), str(self.root), "web"]
        subprocess.run(command, check=True, timeout=LONG)
        self.assertEqual(self.status()["state"], "stopped")
        self.assertEqual(tagged_pids(self.record.tag), set())

    def test_a_start_after_a_stop_that_was_cut_off_stays(self):
        self.start(SLEEPER)
        self.until(lambda: self.status()["pid"], "a pid")
        self.kill_supervisor()
        self.record.ask_stop(1)
        self.start(SLEEPER)
        self.assertTrue(self.record.is_wanted())
        self.until(lambda: self.status()["state"] == "running", "it runs")

    def test_a_service_killed_with_its_supervisor_is_lost_and_can_be_started_again(self):
        self.start(SLEEPER)
        self.until(lambda: self.status()["pid"], "a pid")
        pid = self.status()["pid"]
        self.kill_supervisor()
        os.kill(pid, signal.SIGKILL)
        self.until(lambda: start_time(pid) is None, "death")
        self.assertEqual(self.status()["state"], "lost")
        self.assertTrue(self.start(SLEEPER)["started"])

    def test_a_recycled_pid_is_never_signalled(self):
        self.start(SLEEPER)
        self.until(lambda: self.status()["pid"], "a pid")
        control.stop({"id": "web", "grace": 1}, self.channel)
        self.record.write_state(
            {
                "status": "running",
                "pid": os.getpid(),
                "start": "1:1",
                "supervisor": {"pid": os.getpid(), "start": "1:1"},
            }
        )
        self.assertEqual(self.status()["state"], "lost")
        control.stop({"id": "web", "grace": 1}, self.channel)

    def test_the_log_goes_on_at_an_offset_over_a_rotation(self):
        folder = self.root / "log"
        folder.mkdir()
        log = ServiceLog(folder, rotate_bytes=100)
        file = log.open()
        for number in range(30):
            os.write(file, f"line {number:04d}\n".encode())
            log.rotate()
        os.close(file)
        offset, data = log.read(0)
        self.assertGreater(offset, 0)  # the oldest is gone, and it is said where this begins
        text = data
        while data:
            _at, data = log.read(offset + len(text))
            text += data
        self.assertTrue(text.endswith(b"line 0029\n"))
        self.assertEqual(text.count(b"\n"), len(text) // 10)
        self.assertEqual(log.end(), 300)

    def test_logs_sends_bytes_and_the_offset_to_go_on_from(self):
        self.start([sys.executable, "-c", "print('one'); print('two')"])
        self.until(lambda: self.status()["state"] == "failed", "the end")
        out = io.TextIOWrapper(io.BytesIO())
        with redirect_stdout(out):
            answer = control.logs({"id": "web", "offset": 4, "follow": True}, self.channel)
        events = [json.loads(line) for line in out.buffer.getvalue().splitlines()]
        text = b"".join(base64.b64decode(event["data"]) for event in events).decode()
        self.assertTrue(text.startswith("two\n"), text)
        self.assertEqual(answer["offset"], 4 + len(text))

    def test_what_a_service_started_lives_on_where_that_is_wanted_until_it_is_stopped(self):
        def workers():
            return tagged_pids(self.record.tag) - {self.record.state().get("pid")}

        parent = [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
            "print('up', flush=True)\nwhile True: time.sleep(0.05)",
        ]
        more = {"spare_children": True, "restart": {"max": 9, "window_seconds": 60}}
        self.start(parent, **more)
        self.until(lambda: self.status()["pid"] and len(workers()) == 1, "a worker")
        first = self.status()["pid"]
        os.kill(first, signal.SIGKILL)
        self.until(
            lambda: self.status()["pid"] not in (None, first) and len(workers()) == 2,
            "started again beside the old worker",
        )
        second = self.status()["pid"]
        self.assertTrue(self.start(parent, **more, env={"NEW": "1"}, replace=True)["started"])
        self.until(
            lambda: self.status()["pid"] not in (None, second) and len(workers()) == 3,
            "replaced beside the old workers",
        )
        control.stop({"id": "web", "grace": 1}, self.channel)
        self.assertEqual(tagged_pids(self.record.tag), set())

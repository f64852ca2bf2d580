"""A signal to a pid that was kept reaches nobody but the process that was meant."""

import os
import signal
import subprocess
import sys
import unittest
from typing import Any
from unittest import mock

from flexrack_node.process import containment
from flexrack_node.process.containment import Containment, send_signal
from flexrack_node.process.start import born, same_rank, start_time, started_at


class SignalsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)

    def test_somebody_elses_pid_gets_nothing(self) -> None:
        pid = self.child.pid
        for others in (started_at(f"{start_time(pid)}1"), started_at(None), same_rank({"born": 1})):  # type: ignore[typeddict-item]
            self.assertFalse(send_signal(pid, signal.SIGKILL, others))
        self.assertIsNone(self.child.poll())
        rank = {"born": born(pid)}
        self.assertTrue(send_signal(pid, signal.SIGKILL, same_rank(rank)))  # type: ignore[arg-type]
        self.assertEqual(self.child.wait(10), -signal.SIGKILL)
        self.assertFalse(send_signal(pid, signal.SIGKILL, started_at(None)))

    def test_who_ends_after_the_look_is_not_mistaken_for_who_comes_then(self) -> None:
        """The descriptor was taken before the look, so that the signal goes to that process or to nobody."""
        with mock.patch.object(os, "kill", side_effect=AssertionError("by number")):
            self.assertTrue(send_signal(self.child.pid, signal.SIGKILL, lambda _pid: True))

            def looks(_pid: int) -> bool:
                self.child.wait(10)
                return True

            self.assertFalse(send_signal(self.child.pid, signal.SIGKILL, looks))

    def test_without_descriptors_the_look_decides(self) -> None:
        with mock.patch.object(containment.os, "pidfd_open", side_effect=OSError(38, "ENOSYS")):
            self.assertFalse(send_signal(self.child.pid, signal.SIGKILL, lambda _pid: False))
            self.assertTrue(send_signal(self.child.pid, signal.SIGKILL, lambda _pid: True))
        self.assertEqual(self.child.wait(10), -signal.SIGKILL)

    def test_who_looks_for_processes_ends_nobody_who_came_after_the_look(self) -> None:
        from pathlib import Path
        from types import SimpleNamespace

        from flexrack_node import uninstall
        from flexrack_node.preflight import mend
        from flexrack_node.workspace import ssh_session

        channel: Any = SimpleNamespace(root=Path("/nowhere"), event=lambda *_, **__: None)
        pid = self.child.pid
        found = [{"run": "one", "pids": [pid], "command": ""}]
        with mock.patch.object(uninstall, "living", side_effect=[[pid], []]):
            uninstall.end_all(channel, [pid], 1.0)
        with mock.patch.object(mend, "leftovers", side_effect=[found] + [[]] * 9):
            mend.end_processes("one", channel, 1.0)
        with mock.patch.object(ssh_session, "orphans", side_effect=[[pid], []]):
            ssh_session.end_orphans("nobodys")
        self.assertIsNone(self.child.poll())

    def test_a_containment_leaves_others_alone(self) -> None:
        """A pid that it has seen, and that is another process's when it is to be ended."""
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory() as folder:
            box = Containment("nobodys.1", Path(folder))
            self.addCleanup(box.close)
            with mock.patch.object(box, "pids", side_effect=[[self.child.pid], []] + [[]] * 50):
                self.assertEqual(box.terminate(0.2), [])
        self.assertIsNone(self.child.poll())


if __name__ == "__main__":
    unittest.main()

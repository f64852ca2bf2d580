"""The fence of a run: what becomes of it when looking at the reservation fails."""

import errno
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.reservation import hold
from flexrack_node.reservation.hold import Hold
from waiting import LONG, until

LEASE = {"lease": "run-1", "fence": 7}
LOST = NodeError(
    "RESERVATION_LOST", "the reservation of run-1 does not hold any more: it was released", "run the command again"
)


class HoldTest(unittest.TestCase):
    """Hold looks every few milliseconds here; what it finds is played."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.lost = []
        self.looks = 0
        self.found = lambda: None
        for name, value in {
            "LOOK_SECONDS": 0.01,
            "BLIND_SECONDS": 0.3,
            "LAST_RESORT_SECONDS": 1.0,
            "current": self.look,
            "open_place": lambda root: mock.MagicMock(),
        }.items():
            patch = mock.patch.object(hold, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.hold = Hold(Path(folder.name), LEASE, self.lost.append)
        self.addCleanup(self.hold._done.set)
        threading.Thread(target=self.hold._keep, daemon=True).start()

    def look(self, place, given, root):
        self.looks += 1
        error = self.found()
        if error:
            raise error
        return {"lease": "run-1", "fence": 7, "holders": []}

    def test_one_failure_to_look_is_no_loss_and_does_not_end_the_watch(self):
        failures = [
            OSError(errno.EIO, "Input/output error"),
            ValueError("garbage in the record"),
            RecursionError(),
            MemoryError(),
        ]
        self.found = lambda: failures.pop() if failures else None
        until(lambda: not failures)
        seen = self.looks
        until(lambda: self.looks > seen + 5)
        self.assertEqual(self.lost, [])
        self.found = lambda: LOST
        until(lambda: self.lost)
        self.assertEqual(self.lost, [LOST.message])

    def test_what_cannot_be_looked_at_for_seconds_counts_as_lost_and_says_why(self):
        self.found = lambda: OSError(errno.ESTALE, "Stale file handle")
        until(lambda: self.lost)
        self.assertRegex(
            self.lost[0], r"^the reservation of run-1 could not be looked at for \d+ s \(.*Stale file handle\)$"
        )

    def test_a_start_is_forbidden_once_nothing_could_be_seen_for_seconds(self):
        self.found = lambda: OSError(errno.EIO, "Input/output error")
        self.assertIsNone(self.hold.lost())
        until(lambda: self.hold.lost() is not None)

    def test_a_loss_that_cannot_be_written_down_at_first_is_told_again(self):
        reported = []

        def on_lost(why):
            reported.append(why)
            if len(reported) < 2:
                raise OSError(errno.ENOSPC, "No space left on device")

        self.hold._on_lost = on_lost
        self.found = lambda: LOST
        until(lambda: len(reported) == 2)


class LastResortTest(unittest.TestCase):
    def test_a_supervisor_that_cannot_be_told_ends(self):
        script = f"""
import sys, threading, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[3] / "node")!r})
from pathlib import Path
from unittest import mock
from flexrack_node.reservation import hold as module
module.LAST_RESORT_SECONDS = 0.5
def full(why): raise OSError(28, "No space left on device")
with mock.patch.object(module, "open_place", lambda root: None):
    hold = module.Hold(Path("/"), {LEASE!r}, full)
threading.Thread(target=hold._tell, args=("gone",), daemon=True).start()
time.sleep(600)
"""
        done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, timeout=LONG)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        self.assertIn(b"No space left on device", done.stderr)

"""Real programs through the driver as anybody would run them, natively and remotely; the longer ones are in the bench."""

import shutil
import sys
import unittest
from pathlib import Path

from programs import SMALL
from servers import Attached, Daemon, native_env, run


class Programs(unittest.TestCase):
    maxDiff = None

    def test_real_programs_say_the_same(self):
        with Daemon(devices=1) as daemon, Attached([daemon], "tls") as attached:
            for name, command, compared in SMALL:
                with self.subTest(program=name):
                    if not shutil.which(command[0]):
                        self.skipTest(f"{command[0]} is not installed")
                    native, remote = run(command, native_env(1)), run(command, attached.env, preload=True)
                    self.assertEqual(
                        (remote[0], compared(remote[1])), (native[0], compared(native[1])), remote[2][-3000:]
                    )
                    self.assertTrue(compared(native[1]), "nothing was compared")

    def test_every_kind_of_command_tells_when_it_was_queued_submitted_started_and_ended(self):
        program = [sys.executable, Path(__file__).resolve().parent / "profile_times.py"]
        self.assertEqual(run(program, native_env(1))[:2], (0, "0 of 324 commands were told wrongly\n"))
        for transport in ("tls", "shm"):
            with (
                self.subTest(transport=transport),
                Daemon(devices=1) as daemon,
                Attached([daemon], transport) as attached,
            ):
                status, out, err = run(program, attached.env, preload=True)
                self.assertEqual((status, out), (0, "0 of 324 commands were told wrongly\n"), err[-3000:])

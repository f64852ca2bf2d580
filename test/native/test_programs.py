"""Real programs through the driver as anybody would run them, natively and remotely; the longer ones are in the bench."""
import shutil
import unittest

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
                    self.assertEqual((remote[0], compared(remote[1])), (native[0], compared(native[1])), remote[2][-3000:])
                    self.assertTrue(compared(native[1]), "nothing was compared")

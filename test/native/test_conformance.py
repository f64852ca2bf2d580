"""Ordinary OpenCL programs, natively and over each transport: their outputs are compared byte for byte, error codes
included.
"""

import difflib
import os
import unittest

from servers import BUILD, Attached, Daemon, native_env, run

PROGRAMS = sorted(path.name for path in (BUILD / "conformance").glob("*") if path.is_file() and path.name != "sequence")
IS_LONG = "FLEXRACK_LONG" in os.environ
# What is built for parts of a device PoCL keeps nowhere, so each run compiles all of it again: in the gate parts are
# tried by SubDevices alone.
WITHOUT_PARTS = [name for name in PROGRAMS if IS_LONG or name != "sub_devices"]
# In the gate all run over shared memory, and over TLS on two daemons. On one daemon over TLS, and over plain TCP, which is
# that without the cipher, these do: they move most.
MOVING = ["events", "kernel_launches", "memory_blocking", "memory_buffers", "memory_maps"]
OVER_TLS = WITHOUT_PARTS if IS_LONG else MOVING
OVER_TCP = PROGRAMS if IS_LONG else ["events", "memory_maps"]
# How many random sequences, twenty a program's start.
SEQUENCES = 160 if IS_LONG else 40


def differences(native, remote):
    return "\n".join(
        list(difflib.unified_diff(native.splitlines(), remote.splitlines(), "native", "remote", lineterm="", n=2))[:60]
    )


class Comparison(unittest.TestCase):
    """`places` are the devices of each daemon; natively, one platform has them all."""

    native = {}

    def compare(self, attached, name, *arguments):
        program = [BUILD / "conformance" / name, *map(str, arguments)]
        key = (name, arguments, sum(daemon.devices for daemon in attached.daemons))
        if key not in self.native:
            Comparison.native[key] = run(program, native_env(key[2]))
        expected, found = self.native[key], run(program, attached.env)
        self.assertEqual(
            (found[0], found[1]),
            (expected[0], expected[1]),
            f"{differences(expected[1], found[1])}\n{found[2][-4000:]}",
        )

    def compare_all(self, daemons, transport, programs=PROGRAMS):
        with Attached(daemons, transport) as attached:
            for name in programs:
                with self.subTest(program=name, transport=transport):
                    self.compare(attached, name)


class OneDaemon(Comparison):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(devices=2)
        cls.addClassCleanup(cls.daemon.stop)

    def test_programs_give_the_same_over_shared_memory(self):
        self.compare_all([self.daemon], "shm", WITHOUT_PARTS)

    def test_programs_give_the_same_over_tls(self):
        self.compare_all([self.daemon], "tls", OVER_TLS)

    def test_random_sequences_give_the_same(self):
        with Attached([self.daemon], "shm") as attached:
            for first in range(1, SEQUENCES, 20):
                with self.subTest(first=first):
                    self.compare(attached, "sequence", first, 20)


class PlainDaemon(Comparison):
    def test_programs_give_the_same_over_plain_tcp(self):
        with Daemon(devices=2, transport="tcp") as daemon:
            self.compare_all([daemon], "tcp", OVER_TCP)


class SubDevices(unittest.TestCase):
    """Parts of a device that has more units than this machine may have."""

    UNITS = {"POCL_MAX_PTHREAD_COUNT": "5"}
    # What the specification says of contexts and programs on parts, and of how long parts last, where PoCL itself knows
    # whole devices only.
    BY_SPECIFICATION = """\
the context's devices are its parts: 1
a queue of the whole in a context of parts: CL_INVALID_DEVICE
the program's devices are the parts: 1
each has a binary: 1
a program of the binaries: CL_SUCCESS, each 1
with the binaries: 1d5ed8331abb3847, queue of the part
with the binaries: groups c8f8c89d00841caf
release the middle: CL_SUCCESS
release the part: CL_SUCCESS
release it once more: CL_INVALID_DEVICE
after its release: b05b70a71e81126f, queue of the part
after its release: groups c8f8c89d00841caf
"""

    def test_parts_of_five_units_give_the_same(self):
        program = BUILD / "conformance" / "sub_devices"
        with Daemon(devices=1, env=self.UNITS) as daemon, Attached([daemon], "shm") as attached:
            expected, found = run([program], {**native_env(1), **self.UNITS}), run([program], attached.env)
            self.assertIn("5 units, at most 5 parts", expected[1])
            self.assertEqual(found[:2], expected[:2], f"{differences(expected[1], found[1])}\n{found[2][-4000:]}")
            code, out, err = run([program, "by-specification"], attached.env)
            self.assertEqual((code, out), (0, self.BY_SPECIFICATION), err)


class TwoDaemons(Comparison):
    @classmethod
    def setUpClass(cls):
        cls.daemons = [Daemon(devices=1), Daemon(devices=1)]
        for daemon in cls.daemons:
            cls.addClassCleanup(daemon.stop)

    def test_programs_give_the_same_over_devices_of_two_daemons(self):
        self.compare_all(self.daemons, "tls", WITHOUT_PARTS)

    def test_random_sequences_give_the_same_over_devices_of_two_daemons(self):
        with Attached(self.daemons, "tls") as attached:
            for first in range(1001, 1001 + SEQUENCES, 20):
                with self.subTest(first=first):
                    self.compare(attached, "sequence", first, 20)

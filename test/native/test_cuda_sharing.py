"""Memory and events that several processes have: cuIpc* and shareable handles, of the GPU in software itself, and
through a daemon between processes of one lease. What others may not, what is charged, what follows a death.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import typing
import unittest
from pathlib import Path

from servers import BUILD, sanitizer_runtime, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon, native_env  # noqa: E402  (after the path)

LONG = os.environ.get("FLEXRACK_LONG") == "1"
PROGRAM = Path(__file__).resolve().parent / "sharing_process.py"
MIB = 1 << 20
LEASE = 64 * MIB
INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONTEXT, NOT_READY, LAUNCH_FAILED = 1, 2, 201, 600, 719


class Refused(Exception):
    pass


class Process:
    """One of sharing_process.py: its functions are those of that."""

    def __init__(self, env):
        if BUILD.name == "asan":
            env = {**env, "LD_PRELOAD": sanitizer_runtime()}
        self.socket, its = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(its.fileno())],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[its.fileno()],
        )
        its.close()
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self.process.wait()}")
        said = json.loads(line)
        if "failed" in said:
            raise Refused(said["failed"])
        return said.get("is")

    def begin(self, name, *words):
        self.process.stdin.write(json.dumps([name, *words]) + "\n")
        self.process.stdin.flush()

    def __getattr__(self, name):
        def call(*words):
            self.begin(name, *words)
            return self.answer()

        return call

    def hand_on(self, other):
        """The descriptor that this one has exported."""
        data, (descriptor,), _, _ = socket.recv_fds(self.socket, 1, 1)
        socket.send_fds(other.socket, [data], [descriptor])
        os.close(descriptor)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.socket.close()


class Shared:
    """The same on the GPU itself and through a daemon."""

    pair: typing.ClassVar[list] = []

    def refused(self, status, call, *words):
        with self.assertRaises(Refused) as caught:
            call(*words)
        self.assertEqual(caught.exception.args[0], status)

    def another(self, env=None):
        made = Process(env or self.env)
        self.addCleanup(made.end)
        return made

    @classmethod
    def two(cls):
        """The same ones for all tests, unless one has ended."""
        if not all(one.process.poll() is None for one in cls.pair):
            cls.end_pair()
        if not cls.pair:
            cls.pair = [Process(cls.env), Process(cls.env)]
        return cls.pair

    @classmethod
    def end_pair(cls):
        for one in cls.pair:
            one.end()
        cls.pair = []

    def test_memory_is_the_same_in_both(self):
        one, other = self.two()
        for size in (4096, 3 * MIB):  # in a block of small ones, and of its own
            neighbour, at = one.allocate(512), one.allocate(size)
            one.fill(neighbour, 3, 128)
            one.fill(at, 5, 1024)
            handle = one.share(at)
            self.assertEqual(one.share(at + 64), handle, "a handle is of the allocation")
            there = other.open(handle)
            self.assertEqual(other.open(handle), there, "opened twice it is there once")
            self.assertEqual(other.read(there, 1024), [5])
            other.launch(there, 1024, 2)
            other.synchronize()
            self.assertEqual((one.read(at, 1024), one.read(neighbour, 128)), ([7], [3]))
            one.fill(at, 9, 1024)
            self.assertEqual(other.read(there, 1024), [9])
            other.close(there)
            self.assertEqual(other.read(there, 1024), [9])
            other.close(there)
            self.refused(INVALID_VALUE, other.share, there)
            self.refused(INVALID_VALUE, other.close, there)
            self.refused(INVALID_VALUE, other.free, there)
            one.free(at)
            self.refused(INVALID_VALUE, other.open, handle)

    def test_only_what_can_be_shared_is_and_only_others_open_it(self):
        one, other = self.two()
        at = one.allocate(4096)
        handle = one.share(at)
        self.refused(INVALID_CONTEXT, one.open, handle)
        self.refused(INVALID_VALUE, one.share, 4096)
        self.refused(INVALID_VALUE, other.open_event, handle)
        event = one.make_event()
        self.refused(INVALID_VALUE, other.open, one.share_event(event))
        self.refused(INVALID_VALUE, one.make_event, 4)
        self.refused(INVALID_VALUE, one.share_event, one.make_event(2))

    def test_events_are_waited_for_by_the_other_process(self):
        one, other = self.two()
        at = one.allocate(4096)
        one.fill(at, 1, 1024)
        there = other.open(one.share(at))
        event = one.make_event()
        opened = other.open_event(one.share_event(event))
        other.query(opened)  # of one that nobody has recorded
        for value in (2, 3):
            one.hold()
            one.launch(at, 1024, value)
            one.record(event)
            self.refused(NOT_READY, other.query, opened)
            other.wait(opened)
            other.launch(there, 1024, 10)
            one.let_go()
            other.synchronize()
            other.synchronize_event(opened)
            other.query(opened)
            one.synchronize()
        self.assertEqual(one.read(at, 1024), [1 + 2 + 10 + 3 + 10])
        # The other way round, by the same event.
        other.hold()
        other.launch(there, 1024, 100)
        other.record(opened)
        self.refused(NOT_READY, one.query, event)
        one.wait(event)
        one.launch(at, 1024, 1)
        other.let_go()
        one.synchronize()
        self.assertEqual(one.read(at, 1024), [127])
        other.destroy_event(opened)
        one.query(event)

    def test_memory_without_an_address_goes_by_descriptor(self):
        one, other = self.two()
        size = 2 * MIB
        memory = one.create(size)
        at = one.map(memory, size)
        one.fill(at, 21, size // 4)
        one.export(memory)
        one.hand_on(other)
        its = other.take()
        there = other.map(its, size)
        other.launch(there, 1024, 21)
        other.synchronize()
        self.assertEqual((one.read(at, 1024), one.read(at + 4096, 1024)), ([42], [21]))
        # It stays while anyone has it, as CUDA has it.
        one.unmap(at, size)
        one.release(memory)
        self.assertEqual(other.read(there, 1024), [42])
        other.unmap(there, size)
        other.release(its)
        self.refused(INVALID_VALUE, one.export, one.create(size, 0))

    def test_who_waits_for_a_process_that_is_killed_hears_of_it(self):
        one, other = self.two()
        at = one.allocate(4096)
        one.fill(at, 8, 1024)
        there = other.open(one.share(at))
        event = one.make_event()
        opened = other.open_event(one.share_event(event))
        one.hold()
        one.record(event)
        other.wait(opened)
        self.assertEqual(other.read(there, 1024), [8])
        one.kill()
        self.refused(LAUNCH_FAILED, other.synchronize)
        self.end_pair()


class OfTheGpuItself(Shared, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.env = native_env("sim")
        cls.addClassCleanup(cls.end_pair)


class ThroughADaemon(Shared, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = GpuDaemon("sim", options=("--sim-memory", "1GiB"))
        cls.addClassCleanup(cls.daemon.stop)
        cls.env = cls.attach()
        cls.addClassCleanup(cls.end_pair)

    @classmethod
    def attach(cls):
        attached = GpuAttached([cls.daemon], "shm", share={"memory": LEASE})
        cls.addClassCleanup(attached.close)
        return attached.env

    def test_a_forged_handle_opens_nothing(self):
        one, other = self.two()
        at = one.allocate(4096)
        handle = bytes.fromhex(one.share(at))
        for place in range(16, 48):
            forged = bytearray(handle)
            forged[place] ^= 1
            self.refused(INVALID_VALUE, other.open, forged.hex())
        # A size that is no secret: what is there is still no more than what was shared.
        forged = bytearray(handle)
        forged[51] ^= 1
        self.refused(INVALID_VALUE, other.read, other.open(forged.hex()), 1025)
        self.refused(INVALID_VALUE, other.open, "00" * 64)

    def test_another_lease_opens_nothing(self):
        one, stranger = self.two()[0], self.another(self.attach())
        handle = one.share(one.allocate(4096))
        event = one.share_event(one.make_event())
        memory = one.create(2 * MIB)
        one.export(memory)
        one.hand_on(stranger)
        self.refused(INVALID_VALUE, stranger.open, handle)
        self.refused(INVALID_VALUE, stranger.open_event, event)
        self.refused(INVALID_VALUE, stranger.take)

    def test_what_is_shared_is_charged_once_as_long_as_anyone_has_it(self):
        one, other = self.two()
        before = one.left()
        at, memory = one.allocate(8 * MIB), one.create(8 * MIB)
        self.assertEqual(other.left(), before - 16 * MIB)
        there = other.open(one.share(at))
        one.export(memory)
        one.hand_on(other)
        its = other.take()
        self.assertEqual(one.left(), before - 16 * MIB)
        # Who has shared it lets go: the bytes are those of who has it still.
        one.free(at)
        one.release(memory)
        self.assertEqual(one.left(), before - 16 * MIB)
        other.close(there)
        self.assertEqual(one.left(), before - 8 * MIB)
        other.release(its)
        self.assertEqual(other.left(), before)
        # And when it is killed.
        third = self.another()
        there = other.open(third.share(third.allocate(8 * MIB)))
        between = other.left()
        third.kill()
        # A context of one process less; the 8 MiB are there.
        wait_until(lambda: other.left() > between, 30, "the end of a worker")
        self.assertEqual(other.left(), before - 8 * MIB)
        other.close(there)
        self.assertEqual(other.left(), before)

    if LONG:  # the table's own limit is tested in native/test/server

        def test_a_lease_shares_no_more_than_it_may_and_goes_on(self):
            one, other = self.another(), self.two()[1]
            handles = []
            with self.assertRaises(Refused) as caught:
                while True:
                    handles.append(one.share(one.allocate(512)))
            self.assertEqual(caught.exception.args[0], OUT_OF_MEMORY)
            self.assertGreater(len(handles), 4000)  # the pair may have shared something, too
            other.close(other.open(handles[-1]))
            one.end()
            handle = wait_until(lambda: self.shared_by(other), 30, "the end of a worker")
            self.refused(INVALID_CONTEXT, other.open, handle)

        @staticmethod
        def shared_by(process):
            try:
                return process.share(process.allocate(512))
            except Refused:
                return None


if not LONG:
    del OfTheGpuItself

if __name__ == "__main__":
    unittest.main()

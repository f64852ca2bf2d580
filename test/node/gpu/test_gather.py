"""Where the leases of a process come from (gpu/gather.py), and the passage of a sandbox (notebook/passage.py)."""

import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import write
from flexrack_node.gpu import gather, passes
from flexrack_node.gpu.door import Door
from flexrack_node.notebook.passage import Passage
from lease_support import Daemon, order


class GatherTest(unittest.TestCase):
    """Node a with a notebook; b and c let it in."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-gather-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.daemons = {name: Daemon(self.folder / name, [f"{name}0", f"{name}1"]) for name in "abc"}
        self.channel = Channel(self.folder / "a", self.folder / "environments", sys.stdin.buffer)
        self.wish = {**order(), "places": [self.place(name) for name in "bc"]}
        for daemon in self.daemons.values():
            self.addCleanup(daemon.close)
        found = mock.patch.object(
            gather.reach, "reach", lambda given, _channel: {"unix": False, "address": given["loopback"]}
        )
        found.start()
        self.addCleanup(found.stop)
        named = mock.patch.dict("os.environ", FLEXRACK_NODE="a")
        named.start()
        self.addCleanup(named.stop)

    def place(self, name):
        kept = passes.Passes(self.folder / name)
        kept.folder.mkdir(parents=True)
        identity = name * 8 + "0" * 24
        identity = "".join(one if one in "0123456789abcdef" else "0" for one in identity)
        write("gpu.pass", kept.file(identity), {**order(count=4), "secret": name, "until": time.time() + 60})
        door = Door(self.folder / name)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        door.open(["127.0.0.1"], port)
        self.addCleanup(door.close)
        return {"node": name, "pass": identity, "secret": name, "addresses": ["127.0.0.1"], "port": port}

    def got(self, **parts):
        wish = {**self.wish, **parts}
        return [one["node"] for one in gather.gather(wish, "digits", self.channel).servers("cuda")]

    def has(self):
        return {name: len(daemon.leases) for name, daemon in self.daemons.items()}

    def take(self, *devices):
        for device in devices:
            self.daemons[device[0]].taken.add(device)

    def test_its_own_node_comes_first_then_the_next_that_has_enough(self):
        self.assertEqual(self.got(), ["a"])
        self.take("a0", "a1")
        self.assertEqual(self.got(), ["b"])
        self.take("b0")
        self.assertEqual(self.got(count=2), ["c", "c"])

    def test_no_node_has_enough_so_it_is_spread(self):
        self.take("a0", "b1", "c0")
        self.assertEqual(self.got(count=2), ["a", "b"])
        self.assertEqual(self.has(), {"a": 1, "b": 1, "c": 0})

    def test_all_or_none_and_each_node_is_named_with_its_reason(self):
        self.take("a0", "b0", "b1", "c0")
        self.daemons["c"].close()
        with self.assertRaises(NodeError) as refused:
            self.got(count=3)
        self.assertEqual(refused.exception.code, "GPU_UNAVAILABLE")
        self.assertRegex(
            refused.exception.message, r"^1 GPU: a: .*a0 is taken; b: .*b1 is taken; c: this node shares no"
        )
        self.assertEqual(self.has(), {"a": 0, "b": 0, "c": 0})

    def test_what_is_leased_at_a_node_that_is_not_reached_is_given_back(self):
        self.take("a0", "a1", "c0", "c1")
        with mock.patch.object(gather.reach, "reach", lambda *_: {"unix": False, "address": None}):
            with self.assertRaisesRegex(NodeError, "b: its GPU daemon is not reached at 127.0.0.1, port 9"):
                self.got()
        self.assertEqual(self.has(), {"a": 0, "b": 0, "c": 0})
        self.wish["places"][0]["port"] = 1
        with self.assertRaisesRegex(NodeError, "b: 127.0.0.1: .*refused"):
            self.got()


class PassageTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-passage-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.server.close)

    def open(self):
        passage = Passage(self.folder / "s", "127.0.0.1", self.server.getsockname()[1])
        self.addCleanup(passage.close)
        return passage

    def connect(self):
        near = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(near.close)
        near.settimeout(10)
        near.connect(str(self.folder / "s"))
        return near

    def test_bytes_go_both_ways_and_each_side_sees_the_others_end(self):
        self.open()
        near = self.connect()
        far, _ = self.server.accept()
        self.addCleanup(far.close)
        data = bytes(range(256)) * 8192
        threading.Thread(target=lambda: (near.sendall(data), near.shutdown(socket.SHUT_WR)), daemon=True).start()
        got = b"".join(iter(lambda: far.recv(1 << 20), b""))
        self.assertTrue(got == data)
        far.sendall(b"answer")
        far.close()
        self.assertEqual(b"".join(iter(lambda: near.recv(64), b"")), b"answer")

    def test_its_end_is_the_end_of_what_goes_through_it(self):
        passage = self.open()
        near = self.connect()
        far, _ = self.server.accept()
        self.addCleanup(far.close)
        far.settimeout(10)
        near.sendall(b"x")
        self.assertEqual(far.recv(1), b"x")
        passage.close()
        self.assertEqual((near.recv(1), far.recv(1)), (b"", b""))
        self.assertFalse((self.folder / "s").exists())

    def test_who_comes_while_nobody_is_there_sees_its_connection_end(self):
        self.open()
        self.server.close()
        self.assertEqual(self.connect().recv(1), b"")


if __name__ == "__main__":
    unittest.main()

"""The way to a GPU daemon is tried: whoever knows the lease is the daemon, and nobody else is."""

import socket
import struct
import tempfile
import threading
import unittest
from pathlib import Path

from flexrack_node.gpu import reach
from waiting import LONG

LEASE = "0123456789abcdef" * 2


class Answering:
    """Takes connections until the end of the test, and answers what `says` makes of the first 64 bytes."""

    def __init__(self, test, listening, says):
        self.listening, self.says, self.requested = listening, says, []
        test.addCleanup(self.close)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(LONG)
                self.requested.append(connection.recv(64, socket.MSG_WAITALL))
                connection.sendall(self.says(self.requested[-1]))

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.thread.join(LONG)


def daemon(requested):
    known = requested[24:40].hex() == LEASE
    return struct.pack("<4sHHII", b"FLXA", 1, 0 if known else 2, 0, 0)


class Reach(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name, "client.sock"))
        self.own = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def at(self, says):
        """A listener on loopback: its port."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.answering = Answering(self, listening, says)
        return listening.getsockname()[1]

    def ask(self, port, **parts):
        question = {
            "unix": self.path,
            "boot_id": "another",
            "loopback": "127.0.0.1",
            "addresses": [],
            "port": port,
            "lease": LEASE,
        }
        return reach.reach({**question, **parts}, None)

    def test_the_first_address_at_which_the_daemon_answers(self):
        port = self.at(daemon)
        self.assertEqual(self.ask(port, addresses=["127.0.0.9", "127.0.0.1"]), {"unix": False, "address": "127.0.0.1"})
        self.assertEqual(self.answering.requested[0][:14], b"FLEXRACK" + bytes([1, 0, 1, 0, 4, 1]))
        self.assertEqual(len(self.answering.requested[0]), 64)
        self.assertEqual(self.ask(port, addresses=["127.0.0.9"]), {"unix": False, "address": None})

    def test_loopback_is_tried_under_the_same_kernel_only(self):
        port = self.at(daemon)
        self.assertEqual(self.ask(port), {"unix": False, "address": None})
        self.assertEqual(self.ask(port, boot_id=self.own), {"unix": False, "address": "127.0.0.1"})

    def test_what_does_not_know_the_lease_is_not_the_daemon(self):
        for says in (
            daemon,
            lambda requested: b"",
            lambda requested: b"SSH-2.0-somebody else\r\n" * 2,
            lambda requested: b"FLXA",
        ):
            port = self.at(says)
            self.assertEqual(self.ask(port, addresses=["127.0.0.1"], lease="0" * 32), {"unix": False, "address": None})

    def test_the_socket_is_tried_too(self):
        Path(self.path).write_text("")
        self.assertEqual(self.ask(1, boot_id=self.own)["unix"], False)  # a file of that name is none
        Path(self.path).unlink()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self.path)
        listening.listen()
        Answering(self, listening, daemon)
        self.assertEqual(self.ask(1, boot_id=self.own), {"unix": True, "address": None})
        self.assertEqual(self.ask(1), {"unix": False, "address": None})

"""Pending connections at a port that takes proofs: they take the places of each other, and of nobody else."""

import contextlib
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

from flexrack_node.link.gang_link import Listener, join
from flexrack_node.link.lobby import Lobby, close_listening
from flood_support import FLOOD
from waiting import LONG, until

# A hundred who say nothing, one after the other, and then one who proves it.
PROVER = """
import json, socket, sys
sys.stdin.readline()
kept = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) for _ in range(100)]
one = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
challenge = json.loads(one.makefile().readline())["challenge"]
one.sendall(json.dumps({"proof": challenge}).encode() + b"\\n")
print(one.makefile().readline(), end="", flush=True)
"""


@contextlib.contextmanager
def pending_connections(port, silent, flooding):
    """A program of its own, as it would be, that ends with this block."""
    with subprocess.Popen(
        [sys.executable, "-c", FLOOD, str(port), str(silent), str(flooding)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        try:
            assert program.stdout.readline().startswith(b"here")
            yield
        finally:
            program.kill()


class MemberTest(unittest.TestCase):
    """The numbers of connections are those of the promise; how long a member takes is shown, and judged by a bound far
    above it.
    """

    def setUp(self):
        self.members = []
        self.listener = Listener("127.0.0.1", "secret", self.welcome)
        self.addCleanup(self.listener.close)

    def welcome(self, node, link, hello):
        self.members.append(node)
        with contextlib.suppress(Exception):
            while True:
                link.receive()

    def test_a_member_joins_among_two_thousand_silent_and_two_hundred_flooding_connections(self):
        with pending_connections(self.listener.port, 2000, 200):
            took = []
            for number in range(20):
                began = time.monotonic()
                link = join("127.0.0.1", self.listener.port, "secret", f"node-{number}", timeout=LONG)
                took.append(time.monotonic() - began)
                self.addCleanup(link.close)
        until(lambda: len(self.members) == 20)
        print(
            f"joining among pending connections: median {statistics.median(took) * 1000:.0f} ms, longest {max(took) * 1000:.0f} ms",
            file=sys.stderr,
        )

    def test_a_member_that_is_in_stays_in_whatever_comes(self):
        link = join("127.0.0.1", self.listener.port, "secret", "node-1", timeout=LONG)
        self.addCleanup(link.close)
        with pending_connections(self.listener.port, 500, 0):
            self.assertTrue(link.send({"still": "here"}))
            self.assertFalse(link._closed.is_set())
        self.assertEqual(self.members, ["node-1"])


class LobbyTest(unittest.TestCase):
    def setUp(self):
        self.let_in = []
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listening.getsockname()[1]

    def open(self, patience=20.0, most=4):
        lobby = Lobby(
            "challenge", lambda challenge, said: said["proof"] == challenge or None, self.admit, patience, most
        )
        lobby.open(self.listening)
        self.addCleanup(close_listening, self.listening)
        self.addCleanup(lobby.close)
        return lobby

    def admit(self, connection, verified):
        self.let_in.append(connection)
        connection.sendall(b"in\n")

    def connect(self, address="127.0.0.1"):
        one = socket.create_connection(("127.0.0.1", self.port), LONG, (address, 0))
        self.addCleanup(one.close)
        return one

    def prove(self, one):
        challenge = json.loads(one.makefile().readline())["challenge"]
        one.sendall(json.dumps({"proof": challenge}).encode() + b"\n")
        return one.recv(10)

    def is_closed(self, one):
        try:
            one.makefile().readline()  # the challenge
            return one.recv(1) == b""
        except ConnectionResetError:
            return True

    def test_the_oldest_of_the_address_with_the_most_makes_room(self):
        self.open()
        other = self.connect("127.0.0.2")
        crowd = [self.connect() for _ in range(8)]
        self.assertEqual([self.is_closed(one) for one in crowd[:5]], [True] * 5)
        self.assertEqual(self.prove(other), b"in\n")
        self.assertEqual(self.prove(crowd[-1]), b"in\n")

    def test_who_says_more_than_a_proof_or_something_else_is_closed(self):
        self.open(most=64)
        for said in (
            b"GET / HTTP/1.1\r\n",
            b"[]\n",
            b"{}\n",
            b"null\n",
            b'{"proof":1}\n',
            b"\xff\xfe\n",
            b"[" * 4000 + b"\n",
            b"x" * 5000,
        ):
            with self.subTest(said[:20]):
                one = self.connect()
                one.sendall(said)
                self.assertTrue(self.is_closed(one))
        one = self.connect()
        challenge = json.loads(one.makefile().readline())["challenge"]
        one.sendall(json.dumps({"proof": challenge}).encode() + b"\nand more")
        with contextlib.suppress(ConnectionResetError):
            self.assertEqual(one.recv(10), b"")
        self.assertEqual(self.let_in, [])

    def test_a_number_that_is_none_ends_no_thread(self):
        lobby = Lobby("challenge", lambda challenge, said: int(said["returns"]) or None, self.admit, LONG)
        lobby.open(self.listening)
        self.addCleanup(close_listening, self.listening)
        self.addCleanup(lobby.close)
        for said in (b'{"returns":Infinity}\n', b'{"returns":NaN}\n'):
            one = self.connect()
            one.sendall(said)
            self.assertTrue(self.is_closed(one))
        one = self.connect()
        lines = one.makefile()
        lines.readline()  # the challenge
        one.sendall(b'{"returns":1}\n')
        self.assertEqual(lines.readline(), "in\n")

    def test_silence_ends_and_a_byte_now_and_then_is_no_news(self):
        self.open(patience=0.3)
        silent, slow = self.connect(), self.connect()
        slow.makefile().readline()
        with self.assertRaises(OSError):
            for _ in range(500):
                slow.sendall(b" ")
                time.sleep(0.02)
        self.assertTrue(self.is_closed(silent))

    def test_without_a_file_to_spare_the_oldest_pending_connection_goes_and_the_port_lives_on(self):
        self.open(most=10_000)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        prover = [sys.executable, "-c", PROVER, str(self.port)]
        with (
            subprocess.Popen(prover, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program,
            pending_connections(self.port, 100, 0),
        ):
            most = max(int(name) for name in os.listdir("/proc/self/fd"))
            resource.setrlimit(resource.RLIMIT_NOFILE, (most + 20, hard))
            program.stdin.write(b"now\n")
            program.stdin.flush()
            self.assertEqual(program.stdout.readline(), b"in\n")
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_where_no_thread_is_to_be_had_who_was_let_in_waits_for_one(self):
        self.open()
        really = threading.Thread.start
        missing = [3]

        def start(thread):
            if thread._target == self.admit and missing[0]:
                missing[0] -= 1
                raise RuntimeError("can't start new thread")
            really(thread)

        with mock.patch.object(threading.Thread, "start", start):
            self.assertEqual(self.prove(self.connect()), b"in\n")

    def test_closed_it_leaves_neither_thread_nor_connection(self):
        lobby = self.open()
        silent = self.connect()
        lobby.close()
        close_listening(self.listening)
        lobby._thread.join(LONG)
        self.assertFalse(lobby._thread.is_alive())
        self.assertTrue(self.is_closed(silent))

import select
import socket
import threading
import unittest

from flexrack_node.link.gang_link import Link, LinkLost, Listener, join
from flexrack_node.link.lobby import MOST
from waiting import LONG


class GangLinkTest(unittest.TestCase):
    def setUp(self):
        self.met = []
        self.here = threading.Event()
        self.listener = Listener("127.0.0.1", "secret", self.meet)
        self.addCleanup(self.listener.close)

    def meet(self, node, link, hello):
        self.met.append((node, link))
        self.here.set()

    def pair(self):
        link = join("127.0.0.1", self.listener.port, "secret", "node-2", LONG)
        self.assertTrue(self.here.wait(LONG))
        self.addCleanup(link.close)
        self.addCleanup(self.met[0][1].close)
        return self.met[0][1], link

    def test_both_sides_prove_that_they_know_the_secret_and_then_talk(self):
        leader, member = self.pair()
        leader.send({"phase": "run"})
        member.send({"view": "größer"})
        self.assertEqual(member.receive(), {"phase": "run"})
        self.assertEqual(leader.receive(), {"view": "größer"})

    def test_a_caller_with_another_secret_gets_no_link(self):
        with self.assertRaises(LinkLost):
            join("127.0.0.1", self.listener.port, "wrong", "node-2", LONG)
        self.assertEqual(self.met, [])

    def test_unproved_callers_are_bounded_in_number_and_in_what_they_may_say_and_a_member_gets_in_all_the_same(self):
        for said in (
            b"[" * 4000 + b"\n",
            b"x" * 5000,
            b"{}\n",
            b'{"nonce": 1, "proof": "\xc3\xa4", "node": []}\n',
            b"\xff\n",
        ):
            with socket.create_connection(("127.0.0.1", self.listener.port), LONG) as caller:
                self.assertIn(b"nonce", caller.recv(200))
                caller.sendall(said)
                self.assertEqual(self.rest(caller), b"")
        silent = [socket.create_connection(("127.0.0.1", self.listener.port), LONG) for _ in range(MOST + 40)]
        for one in silent:
            self.addCleanup(one.close)
            self.assertIn(b"nonce", one.recv(200))
        self.assertIsInstance(self.pair()[1], Link)  # while they are all here
        turned_away = [number for number, one in enumerate(silent) if select.select([one], [], [], 0)[0]]
        # the oldest, for those who came later and for the member
        self.assertIn(turned_away, [list(range(40)), list(range(41))])

    @staticmethod
    def rest(connection):
        try:
            return connection.recv(200)
        except ConnectionResetError:
            return b""

    def test_a_listener_that_does_not_know_the_secret_is_not_believed(self):
        other = Listener("127.0.0.1", "other", self.meet)
        self.addCleanup(other.close)
        with self.assertRaises(LinkLost):
            join("127.0.0.1", other.port, "secret", "node-2", LONG)

    def test_a_line_that_was_added_changed_or_repeated_ends_the_link(self):
        for tamper in (
            lambda line: line + line,
            lambda line: line.replace(b"run", b"end"),
            lambda line: b"0" * 64 + b' {"phase":"end"}\n',
        ):
            ours, theirs = socket.socketpair()
            key = b"k" * 32
            sender_side, collected = socket.socketpair()
            sender = Link(sender_side, key, True)
            sender.send({"phase": "run"})
            line = collected.recv(65536)
            receiver = Link(theirs, key, False)
            ours.sendall(tamper(line))
            with self.assertRaises(LinkLost):
                receiver.receive()
                receiver.receive()
            for one in (sender, receiver):
                one.close()
            ours.close()
            collected.close()

    def test_the_end_of_one_side_is_noticed_by_the_other(self):
        leader, member = self.pair()
        leader.close()
        with self.assertRaises(LinkLost):
            member.receive()

    def test_nobody_listening_is_told_apart_from_no_connection(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with self.assertRaises(ConnectionRefusedError):
            join("127.0.0.1", port, "secret", "node-2", LONG)

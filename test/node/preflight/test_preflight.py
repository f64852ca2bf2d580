"""Ways between nodes: who is answered, who is not, and that no port stays. The conversations are real processes of the
node program.
"""

import json
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from typing import Any, Dict, List, Optional

from flexrack_node.preflight import link
from flexrack_node.preflight.link import LARGE, Listener, at_once, flood, reach
from places import PROGRAM
from waiting import LONG

HERE = "127.0.0.1"


class LinkTest(unittest.TestCase):
    def listener(self, secret: str = "secret", seconds: float = 60, node: str = "b") -> "tuple[Listener, int]":
        opened = Listener(HERE, node, secret, seconds)
        self.addCleanup(opened.close)
        return opened, opened.open()

    def server(self, answer: Any) -> int:
        """An unknown server: `answer` gets each connection."""
        listening = socket.create_server((HERE, 0))

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(listening.close)
        self.addCleanup(lambda: listening.shutdown(socket.SHUT_RDWR))
        return int(listening.getsockname()[1])

    def be_impatient(self) -> None:
        patience = link.ANSWER_SECONDS
        link.ANSWER_SECONDS = 0.3
        self.addCleanup(setattr, link, "ANSWER_SECONDS", patience)

    def test_who_knows_the_secret_is_answered_and_long_messages_pass(self) -> None:
        _, port = self.listener()
        found = reach(("a", HERE), ("b", HERE, port), "secret")
        self.assertEqual(list(found), ["ms"])

    def test_where_no_more_threads_can_be_had_everything_is_done_with_those_that_there_are(self) -> None:
        _, port = self.listener()
        start, allowed = threading.Thread.start, [3]

        def start_few(thread: threading.Thread) -> None:
            if not allowed[0]:
                raise RuntimeError("can't start new thread")
            allowed[0] -= 1
            start(thread)

        with unittest.mock.patch.object(threading.Thread, "start", start_few):
            found = at_once(
                {str(number): lambda: reach(("a", HERE), ("b", HERE, port), "secret") for number in range(20)}
            )
        self.assertEqual([len(found), [list(one) for one in found.values()]], [20, [["ms"]] * 20])

    def test_a_wrong_secret_or_another_node_gets_nothing_but_the_challenge(self) -> None:
        _, port = self.listener()
        for node, secret in (("b", "guess"), ("c", "secret")):
            self.assertEqual(reach(("a", HERE), (node, HERE, port), secret)["error"], "unverified")
        with socket.create_connection((HERE, port), timeout=LONG) as caller:
            caller.sendall(b"GET / HTTP/1.1\n\n")
            data = b""
            while True:
                try:
                    piece = caller.recv(4096)
                except ConnectionResetError:
                    break
                if not piece:
                    break
                data += piece
        self.assertEqual(list(json.loads(data)), ["challenge"])

    def test_a_proof_cannot_be_used_again(self) -> None:
        _, port = self.listener()
        proofs: List[Dict[str, Any]] = []
        original = link._send
        link._send = lambda connection, value: (
            proofs.append(value) if "what" in value else None,
            original(connection, value),
        )[1]
        try:
            reach(("a", HERE), ("b", HERE, port), "secret")
        finally:
            link._send = original
        with socket.create_connection((HERE, port), timeout=LONG) as thief:
            reader = thief.makefile("rb")
            reader.readline()
            thief.sendall(json.dumps(proofs[0]).encode() + b"\n")
            self.assertEqual(reader.readline(), b"")

    def test_tells_apart_refused_mute_and_what_is_no_node(self) -> None:
        with socket.create_server((HERE, 0)) as gone:
            closed = gone.getsockname()[1]
        self.assertEqual(reach(("a", HERE), ("b", HERE, closed), "s")["error"], "refused")
        talks = self.server(lambda connection: connection.sendall(b"SSH-2.0-x\r\n"))
        self.assertEqual(reach(("a", HERE), ("b", HERE, talks), "s")["error"], "unverified")
        waits = threading.Event()
        mute = self.server(lambda _connection: waits.wait(20))
        self.addCleanup(waits.set)
        self.be_impatient()
        self.assertEqual(reach(("a", HERE), ("b", HERE, mute), "s")["error"], "mute")

    def test_a_peer_that_takes_only_short_messages_is_told(self) -> None:
        def short(connection: socket.socket) -> None:
            challenge = "00"
            link._send(connection, {"challenge": challenge})
            hello = json.loads(link._line(connection))
            link._send(
                connection, {"proof": link._proof("s", "listener", challenge, hello["caller"], hello["listener"])}
            )
            connection.recv(LARGE)  # and no answer, as where large packets vanish on the way

        self.assertEqual(reach(("a", HERE), ("b", HERE, self.server(short)), "s")["error"], "large")

    def test_a_flood_tells_what_came(self) -> None:
        _, port = self.listener()
        found = flood(("a", HERE), ("b", HERE, port), "secret", 0.1)
        self.assertGreater(found["bytes"], 1 << 20)
        self.assertGreater(found["seconds"], 0.05)

    def test_silent_callers_do_not_keep_others_out(self) -> None:
        _, port = self.listener()
        silent = [socket.create_connection((HERE, port)) for _ in range(50)]
        try:
            self.assertIn("ms", reach(("a", HERE), ("b", HERE, port), "secret"))
        finally:
            for one in silent:
                one.close()

    def test_closes_its_ports_when_told_or_when_the_time_is_over(self) -> None:
        for seconds, close in ((60.0, True), (0.05, False)):
            opened, port = self.listener(seconds=seconds)
            if close:
                opened.close()
            deadline = time.monotonic() + LONG
            while "ms" in reach(("a", HERE), ("b", HERE, port), "secret") and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(reach(("a", HERE), ("b", HERE, port), "secret")["error"], "refused")

    def test_binds_the_routed_address_only(self) -> None:
        opened = Listener("127.0.0.2", "b", "secret", 60)
        self.addCleanup(opened.close)
        port = opened.open()
        self.assertIn("ms", reach(("a", HERE), ("b", "127.0.0.2", port), "secret"))
        self.assertEqual(reach(("a", HERE), ("b", HERE, port), "secret")["error"], "refused")


class Talk:
    """One conversation with a real process of the node program."""

    def __init__(self, given: Dict[str, Any], root: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROGRAM), "preflight.run", root, f"{root}/environments"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0
        self._write(given)
        self.ready = self._read()

    def listen(self) -> "Talk":
        self.ready.update(self.ask(do="listen"))
        return self

    def ask(self, **command: Any) -> Dict[str, Any]:
        self._number += 1
        self._write({"id": self._number, **command})
        return self._read()

    def end(self) -> "tuple[Optional[Dict[str, Any]], int]":
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        line = self.process.stdout.readline()
        self.process.stdout.close()
        return (json.loads(line) if line else None), self.process.wait(LONG)

    def _write(self, value: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def _read(self) -> Dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())


class ConversationTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def talk(self, **given: Any) -> Talk:
        talk = Talk({"address": HERE, "secret": "s", "checks": [], **given}, self.root)
        self.addCleanup(lambda: talk.process.poll() is None and (talk.process.kill(), talk.end()))
        return talk

    def test_two_nodes_reach_each_other_also_at_the_rendezvous(self) -> None:
        first, second = self.talk(node="a", leads=True).listen(), self.talk(node="b", leads=False).listen()
        self.assertEqual(first.ready["machine"], second.ready["machine"])
        self.assertEqual(first.ready["interface"]["name"], "lo")
        self.assertIn(first.ready["rendezvous"], range(20000, 32768))
        answer = second.ask(
            do="reach", peers={"a": [HERE, first.ready["port"]]}, rendezvous=["a", HERE, first.ready["rendezvous"]]
        )
        self.assertEqual((list(answer["ways"]["a"]), list(answer["rendezvous"])), (["ms"], ["ms"]))
        self.assertGreater(first.ask(do="flood", peer=["b", HERE, second.ready["port"]], seconds=0.05)["bytes"], 0)
        self.assertLess(abs(first.ask(do="clock")["at"] - time.time()), 60)
        for talk in (first, second):
            self.assertEqual(talk.end(), ({"result": {}}, 0))
        self.assertEqual(reach(("a", HERE), ("a", HERE, first.ready["port"]), "s")["error"], "refused")

    def test_the_facts_are_those_that_the_checks_need(self) -> None:
        talk = self.talk(node="a", leads=True, checks=["limits", "disk", "shm", "ports", "leftovers", "versions"])
        facts = talk.ask(do="facts")
        self.assertEqual(facts["missing"], {})
        self.assertEqual(
            set(facts) - {"event", "id", "missing"},
            {"limits", "disks", "shm", "ports", "leftovers", "versions", "gpus"},
        )
        self.assertEqual(facts["leftovers"], [])
        self.assertEqual(facts["versions"], {"packages": {}})
        self.assertGreater(facts["ports"]["range"][1], facts["ports"]["range"][0])
        self.assertEqual(talk.end()[1], 0)

    def test_an_address_that_is_not_its_own_is_told(self) -> None:
        talk = self.talk(node="a", leads=True, address="192.0.2.7").listen()
        self.assertIn("failed", talk.ready)
        self.assertEqual(talk.end()[1], 0)

    def test_it_ends_by_itself_although_nobody_closes_stdin(self) -> None:
        talk = self.talk(node="a", leads=True, seconds=1).listen()
        assert talk.process.stdout
        readable, _, _ = select.select([talk.process.stdout], [], [], LONG)
        self.assertTrue(readable)
        self.assertEqual((json.loads(talk.process.stdout.readline()), talk.process.wait(LONG)), ({"result": {}}, 0))
        self.assertEqual(reach(("b", HERE), ("a", HERE, talk.ready["port"]), "s")["error"], "refused")
        talk.end()

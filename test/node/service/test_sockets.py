"""Sockets that a supervisor keeps for its service: real processes, real connections."""

import io
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.service import control
from flexrack_node.service.record import ServiceRecord
from messages import check_files
from waiting import LONG

# Answers each connection with its pid, and tells where it listens, as the head does.
ANSWERS = """
import json, os, socket, sys
listener = socket.socket(fileno=int(os.environ["FLEXRACK_SOCKETS"]))
listener.setblocking(True)
with open(sys.argv[1], "w") as file:
    json.dump({"port": listener.getsockname()[1]}, file)
while True:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(str(os.getpid()).encode())
"""
CRASHES = "raise SystemExit(3)"


class SocketsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-sockets-"))
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())
        self.record = ServiceRecord(self.root, "web")
        self.told = self.root / "listener.json"

    def tearDown(self) -> None:
        control.stop({"id": "web", "grace": 1}, self.channel)
        check_files(self.root)
        shutil.rmtree(self.root)

    def start(self, program=ANSWERS, port=0, most=20) -> None:
        last = {"file": str(self.told), "key": "port"}
        control.start(
            {"id": "web", "argv": [sys.executable, "-c", program, str(self.told)], "env": {}, "grace": 1}
            | {"sockets": [{"host": "127.0.0.1", "port": port, "last": last}], "replace": True}
            | {"restart": {"max": most, "window_seconds": 60}},
            self.channel,
        )

    def port(self) -> int:
        end = time.monotonic() + LONG
        while True:
            try:
                return int(json.loads(self.told.read_text())["port"])
            except (OSError, ValueError):
                self.assertLess(time.monotonic(), end, "it has not told its port")
                time.sleep(0.02)

    def ask(self, port) -> int:
        with socket.create_connection(("127.0.0.1", port), LONG) as connection:
            return int(connection.recv(20))

    def test_who_comes_between_two_starts_waits_and_is_answered(self) -> None:
        self.start()
        port = self.port()
        pids = {self.ask(port)}
        for _ in range(2):
            self.kill(control.status({"id": "web"}, self.channel)["pid"])
            pids.add(self.ask(port))
        self.assertEqual(len(pids), 3)
        self.assertEqual(self.port(), port)

    def test_after_a_stop_nobody_waits_and_the_next_start_has_the_same_port(self) -> None:
        self.start()
        port = self.port()
        control.stop({"id": "web", "grace": 1}, self.channel)
        with self.assertRaises(ConnectionRefusedError):
            self.ask(port)
        self.start()
        while self.record.state()["status"] != "running":  # a start answers before its supervisor has bound the port
            time.sleep(0.02)
        self.assertGreater(self.ask(port), 0)

    def test_a_process_that_outlived_its_supervisor_is_followed_by_one_with_sockets_again(self) -> None:
        self.start()
        port, first = self.port(), self.ask(self.port())
        os.kill(self.record.state()["supervisor"]["pid"], signal.SIGKILL)
        while self.record.is_supervised():
            time.sleep(0.02)
        self.assertEqual(control.status({"id": "web"}, self.channel)["pid"], first)
        self.assertEqual(self.ask(port), first)
        self.kill(first)
        while (found := self.answer(port)) in (None, first):
            time.sleep(0.02)
        self.kill(found)
        self.assertNotEqual(self.ask(port), found)

    def kill(self, pid) -> None:
        """Until it has ended: what it has accepted before is cut off, which is not what is looked at here."""
        os.kill(pid, signal.SIGKILL)
        while self.record.state()["status"] == "running" and self.record.state()["pid"] == pid:
            time.sleep(0.02)

    def answer(self, port):
        try:
            return self.ask(port)
        except (OSError, ValueError):
            return None

    def test_one_that_cannot_start_keeps_nobody_waiting(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.start(CRASHES, port, most=20)
        end = time.monotonic() + LONG
        while True:  # its pauses grow
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) != 0:
                    break
            self.assertLess(time.monotonic(), end, "it still listens")
            time.sleep(0.05)

    def test_a_port_that_another_one_has_is_left_to_the_process(self) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            program = "import os, sys\nopen(sys.argv[1], 'w').write(str('FLEXRACK_SOCKETS' in os.environ))"
            self.start(program, other.getsockname()[1], most=0)
            end = time.monotonic() + LONG
            while not self.told.exists() or not self.told.read_text():
                self.assertLess(time.monotonic(), end, "it has not run")
                time.sleep(0.02)
            self.assertEqual(self.told.read_text(), "False")


if __name__ == "__main__":
    unittest.main()

"""Passes: leases of a node's daemon over the network, by a secret (gpu/passes.py, gpu/door.py, gpu/door_talk.py)."""

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read, write
from flexrack_node.gpu import door_talk, held_passes, passes
from flexrack_node.gpu.door import Door
from flexrack_node.gpu.knock import knock
from flexrack_node.service import control
from lease_support import KEY, Daemon, order
from waiting import until


class DoorCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-door-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.channel = Channel(self.folder / "b", self.folder / "environments", sys.stdin.buffer)
        self.daemon = Daemon(self.channel.root, ["G0", "G1"])
        self.addCleanup(self.daemon.close)
        self.passes = passes.Passes(self.channel.root)
        self.passes.folder.mkdir(parents=True)

    def opened(self):
        door = Door(self.channel.root)
        port = free_port()
        door.open(["127.0.0.1"], port)
        self.addCleanup(door.close)
        return door, port

    def place(self, port, **parts):
        identity, secret = os.urandom(16).hex(), os.urandom(32).hex()
        kept = {**order(**parts), "secret": secret, "until": time.time() + 60}
        write("gpu.pass", self.passes.file(identity), kept)
        return {"node": "b", "pass": identity, "secret": secret, "addresses": ["127.0.0.1"], "port": port}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def raw(port, line_of):
    """What the door says to a line that is made for its challenge; b"" where it says nothing."""
    with socket.create_connection(("127.0.0.1", port), 5) as link, link.makefile("rb") as lines:
        link.settimeout(5)
        challenge = json.loads(lines.readline())["challenge"]
        link.sendall(line_of(challenge) + b"\n")
        return lines.readline()


def line(place, challenge, ask, nonce="n" * 32, proof_of=None):
    proof = door_talk.proof(place["secret"], challenge, nonce, proof_of or ask)
    return json.dumps({"pass": place["pass"], "nonce": nonce, "ask": ask, "proof": proof}).encode()


LEASE = {"do": "lease", "count": 1, "all": True}


class DoorTest(DoorCase):
    def test_a_pass_gives_leases_of_its_size_and_takes_its_own_back(self):
        _door, port = self.opened()
        place = self.place(port)
        answer = door_talk.ask(place, LEASE)
        self.assertEqual((answer["address"], [one["key"] for one in answer["leases"]]), ("127.0.0.1", [KEY]))
        [has] = self.daemon.leases
        self.assertEqual(
            (has["owner"], has["purpose"], has["memory"]), ("ada@laptop", "notebook digits on a", 512 << 20)
        )
        self.assertEqual(len(door_talk.ask(place, {**LEASE, "count": 7})["leases"]), 1)  # no more than its count
        other = self.place(port)
        with self.assertRaisesRegex(door_talk.Refused, "not of this pass"):
            door_talk.ask(other, {"do": "release", "lease": has["lease"]})
        door_talk.ask(place, {"do": "release", "lease": has["lease"]})
        self.assertEqual(len(self.daemon.leases), 1)
        with self.assertRaisesRegex(door_talk.Refused, "not of this pass"):  # once
            door_talk.ask(place, {"do": "release", "lease": has["lease"]})

    def test_what_is_not_free_is_refused_with_the_reason_and_part_of_it_is_given_where_that_is_asked_for(self):
        _door, port = self.opened()
        place = self.place(port, count=2)
        self.daemon.taken.add("G0")
        with self.assertRaisesRegex(door_talk.Refused, "G0 is taken"):
            door_talk.ask(place, {**LEASE, "count": 2})
        self.assertEqual(self.daemon.leases, [])
        self.assertEqual(len(door_talk.ask(place, {**LEASE, "count": 2, "all": False})["leases"]), 1)

    def test_nobody_is_answered_who_does_not_know_the_secret(self):
        _door, port = self.opened()
        place = self.place(port)
        seen = []

        def kept(challenge):
            seen.append(line(place, challenge, LEASE))
            return seen[0]

        self.assertNotIn(KEY.encode(), raw(port, kept))  # encrypted
        self.assertEqual(len(self.daemon.leases), 1)
        wrong = {**place, "secret": "0" * 64}
        for name, said in {
            "replayed": lambda challenge: seen[0],
            "another secret": lambda challenge: line(wrong, challenge, LEASE),
            "another request": lambda challenge: line(place, challenge, LEASE, proof_of={**LEASE, "count": 2}),
            "no such pass": lambda challenge: line({**place, "pass": "0" * 32}, challenge, LEASE),
            "a path": lambda challenge: line({**place, "pass": "../settings"}, challenge, LEASE),
            "a number": lambda challenge: line({**place, "pass": 1}, challenge, LEASE),
            "no object": lambda challenge: b"[1]",
            "deep": lambda challenge: b"[" * 4000,
        }.items():
            with self.subTest(name):
                self.assertEqual(raw(port, said), b"")
        write("gpu.pass", self.passes.file(place["pass"]), {**order(), "secret": place["secret"], "until": 1})
        self.assertEqual(raw(port, lambda challenge: line(place, challenge, LEASE)), b"")  # expired
        self.assertEqual((self.passes.count(), list(self.passes.folder.iterdir())), (0, []))
        other = self.place(port)
        file = self.passes.file(other["pass"])
        file.write_text(json.dumps({"schema": 99}))  # of a newer flexrack: the door stays, for the others
        self.assertEqual((raw(port, lambda challenge: line(other, challenge, LEASE)), self.passes.count()), (b"", 1))
        file.write_text("{}")
        self.assertEqual((raw(port, lambda challenge: line(other, challenge, LEASE)), self.passes.count()), (b"", 0))
        self.assertEqual(len(door_talk.ask(self.place(port), LEASE)["leases"]), 1)
        self.assertEqual(len(self.daemon.leases), 2)

    def test_who_knows_it_and_asks_nonsense_is_told_so_and_the_door_stays(self):
        _door, port = self.opened()
        place = self.place(port)
        for ask in ({"do": "lease"}, {"do": "lease", "count": "x", "all": 1}, {"do": "open"}, {}, [], 1, None):
            with self.subTest(ask), self.assertRaises(door_talk.Refused):
                door_talk.ask(place, ask)
        with self.assertRaises(door_talk.Refused):
            door_talk.ask(place, {**LEASE, "count": -1})
        self.assertEqual(self.daemon.leases, [])
        self.assertEqual(len(door_talk.ask(place, LEASE)["leases"]), 1)

    def test_a_door_that_does_not_know_the_secret_gives_nothing(self):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        answers = [b'{"sealed": "00", "mac": "00"}\n', b"{}\n", b"", b"x" * (2 << 20)]

        def serve():
            for answer in answers:
                link, _ = listening.accept()
                with link:
                    link.sendall(b'{"challenge": "00"}\n')
                    link.recv(4096)
                    try:
                        link.sendall(answer)
                    except OSError:
                        pass

        threading.Thread(target=serve, daemon=True).start()
        place = self.place(listening.getsockname()[1])
        for _ in answers:
            with self.assertRaises(OSError):
                door_talk.ask(place, LEASE, 5)

    def test_leases_that_ended_by_themselves_are_forgotten_and_those_that_live_are_not(self):
        door, port = self.opened()
        place = self.place(port, count=2)
        gone, live = (door_talk.ask(place, LEASE)["leases"][0]["lease"] for _ in range(2))
        self.daemon.leases = [one for one in self.daemon.leases if one["lease"] != gone]
        door.forget_ended()
        self.assertEqual(door.given, {(place["pass"], live)})
        self.daemon.close()
        door.forget_ended()
        self.assertEqual(door.given, {(place["pass"], live)})

    def test_a_lease_whose_asker_went_away_is_given_back(self):
        door, _port = self.opened()
        near, far = socket.socketpair()
        far.close()
        place = self.place(1)
        kept = self.passes.find(place["pass"])
        door.serve(near, (place["pass"], kept, "c", "n", LEASE))
        self.assertEqual(self.daemon.leases, [])

    def test_the_end_of_a_pass_is_told_to_all_that_are_reached(self):
        _door, port = self.opened()
        here, spared, away = (
            self.place(port),
            self.place(port),
            {**self.place(port), "node": "away", "port": free_port()},
        )
        file = self.folder / "gpus.json"
        file.write_text(json.dumps({"places": [here, spared, away]}))
        self.assertEqual(held_passes.end_passes(file, [spared["pass"]]), ["away"])
        with self.assertRaises(OSError):
            door_talk.ask(here, LEASE)
        self.assertEqual(len(door_talk.ask(spared, LEASE)["leases"]), 1)
        self.assertEqual(held_passes.end_passes(self.folder / "none.json"), [])

    def test_a_pass_is_renewed_for_a_day(self):
        _door, port = self.opened()
        place = self.place(port)
        door_talk.ask(place, {"do": "renew"})
        ends = read("gpu.pass", self.passes.file(place["pass"]))["until"]
        self.assertAlmostEqual(ends - time.time(), passes.LASTS_SECONDS, delta=60)


class AllowTest(DoorCase):
    def test_the_door_is_a_service_that_opens_with_the_first_pass_and_keeps_its_port(self):
        self.addCleanup(passes.close_door, self.channel, 1.0)
        made = passes.allow(order(), self.channel)
        again = passes.allow(order(), self.channel)
        self.assertEqual((made["port"], made["bind"]), (again["port"], ["127.0.0.1"]))
        self.assertEqual(self.passes.file(made["pass"]).stat().st_mode & 0o777, 0o600)
        place = place_of(made)
        [tried] = knock({"places": [place]}, self.channel)
        self.assertIn("refused", tried["problem"])  # it lets us in; its daemon has no port here
        with socket.create_server(("127.0.0.1", 0)) as daemon:
            place["daemon_port"] = daemon.getsockname()[1]
            self.assertEqual(knock({"places": [place]}, self.channel), [{"node": "b", "problem": None}])
        pid = pid_of(self.channel)
        os.kill(pid, 9)
        self.assertEqual(len(until(lambda: leased(place))["leases"]), 1)  # it comes back
        self.assertNotIn(made["secret"], Path(f"/proc/{pid_of(self.channel)}/cmdline").read_text())
        self.assertEqual(passes.disallow({"pass": made["pass"]}, self.channel), {"ended": True})
        self.assertEqual(passes.disallow({"pass": made["pass"]}, self.channel), {"ended": False})
        with self.assertRaises(NodeError):
            passes.disallow({"pass": "../settings"}, self.channel)
        passes.close_door(self.channel, 1.0)
        self.assertEqual((self.passes.folder.exists(), leased(place_of(again))), (False, None))

    def test_without_a_daemon_there_is_no_pass(self):
        self.daemon.close()
        with self.assertRaises(NodeError) as refused:
            passes.allow(order(), self.channel)
        self.assertEqual(refused.exception.code, "GPU_UNAVAILABLE")
        self.assertEqual(list(self.passes.folder.iterdir()), [])


def leased(place):
    try:
        return door_talk.ask(place, LEASE, 2)
    except OSError:
        return None


def place_of(made):
    """As src/lib/gpu/passes.ts makes it of what gpu.allow says."""
    parts = {key: made[key] for key in ("pass", "secret", "port", "daemon_port")}
    return {**parts, "node": "b", "addresses": made["bind"]}


def pid_of(channel):
    return control.status({"id": passes.SERVICE}, channel)["pid"]


if __name__ == "__main__":
    unittest.main()

"""CUDA copies between devices of several servers, and graphs that lie on several: what they have for each other goes
from server to server, in order, and is an error where that cannot be.
"""

import json
import os
import signal
import socket
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from cuda_programs import NATIVE, build
from servers import run, wait_until
from test_cuda_faults import Client, Relay
from test_cuda_programs import sim_env
from traces import counted

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

MEBIBYTE, GRACE = 1 << 20, 4
PEER = slice(56, 64)  # of a connection's preamble (docs/protocol.md): not 0 between servers


class PeerRelay(Relay):
    """Its cut is one between servers: connections of clients pass."""

    def __init__(self, port):
        self.peers, self.is_cut_for_peers = set(), False
        super().__init__(port)

    def carry(self, one, other):
        if one.getsockname()[1] == self.address[1]:
            head = one.recv(64, socket.MSG_WAITALL)
            if any(head[PEER]):
                self.peers |= {one, other}
                if self.is_cut_for_peers:
                    return self.drop_peers()
            other.sendall(head)
        super().carry(one, other)

    def drop_peers(self):
        """Their connections of now; new ones come about unless they are cut."""
        for link in list(self.peers):
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut_peers(self):
        self.is_cut_for_peers = True
        self.drop_peers()


class CudaPeers(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        names = ("peer_copies", "graph_devices", "graph_conditions", "copies_ahead")
        programs = build(names=list(names))
        cls.program, cls.graph, cls.conditions, cls.ahead = (programs[name]["static"] for name in names)
        cls.load = build(sources=NATIVE / "test" / "cuda_fault")["peer_load"]["static"]

    def rack(self, count=2, transport="tls", rewrite=None, devices=1, **more):
        daemons = []
        for number in range(count):
            daemons.append(
                GpuDaemon(
                    "sim",
                    devices,
                    transport="tcp" if transport == "tcp" else "auto",
                    options=("--sim-memory", "256MiB"),
                    env={"FLEXRACK_SIM_SEED": str(number)},
                    **more,
                )
            )
            self.addCleanup(daemons[-1].stop)
        attached = GpuAttached(daemons, transport, rewrite=rewrite)
        self.addCleanup(attached.close)
        return daemons, attached

    def traced(self, attached, *words, program=None):
        """What a program printed, and its trace."""
        with tempfile.TemporaryDirectory(prefix="flexrack-trace-") as folder:
            trace = Path(folder) / "trace"
            code, out, err = run(
                [program or self.program, *words], {**attached.env, "FLEXRACK_TRACE": str(trace)}, preload=True
            )
            self.assertEqual(
                (code, out.splitlines()[-1:]),
                (0, ["PASS"]),
                out + err[-2000:] + "".join(daemon.said()[-1000:] for daemon in attached.daemons),
            )
            return out, trace.read_text()

    def test_copies_of_every_kind_are_what_they_are_natively(self):
        for transport, count in (("tls", 3), ("tcp", 2), ("shm", 2)):
            with self.subTest(transport=transport):
                _, attached = self.rack(count, transport)
                native = run([self.program, 9], sim_env(devices=count, memory="256MiB"), preload=True)
                out, trace = self.traced(attached, 9)
                self.assertEqual((0, out), native[:2])
                self.assertEqual(trace.count(" go from server to server"), 3 if count == 3 else 1)

    def test_hundreds_of_them_wait_for_each_other_on_hundreds_of_streams(self):
        _, attached = self.rack()
        native = run([self.ahead, 4, 300], sim_env(devices=2, memory="256MiB"), preload=True)
        self.assertEqual((0, self.traced(attached, 4, 300, program=self.ahead)[0]), native[:2])

    def test_their_bytes_do_not_pass_the_client(self):
        _, attached = self.rack()
        once, often = (Counter(counted(self.traced(attached, 9, rounds)[1])) for rounds in (1, 5))
        more = often - once
        pieces = 2 * 4 * 3  # each device gets 9 MiB and a little four times more often, in pieces of 4 MiB
        self.assertEqual((more["send", "ExportMemory"], more["send", "ImportMemory"]), (pieces, pieces))
        self.assertEqual(
            [name for (_, name) in more if name in ("ReadMemory", "WriteMemory", "ReadRows", "WriteRows")], []
        )
        self.assertEqual([what for what, _ in more if what == "call"], [], "nothing is waited for")

    def test_servers_that_do_not_reach_each_other_copy_through_the_client(self):
        def unreachable(server):
            return {**server, "address": "127.0.0.1", "port": 9}

        _, attached = self.rack(2, "shm", unreachable)
        _, trace = self.traced(attached, 9, 1, "waiting")
        self.assertEqual(trace.count(" go through this process"), 1)
        self.assertNotIn("ExportMemory", trace)

    def test_a_graph_over_servers_does_what_it_does_natively(self):
        for transport, count, devices in (("tls", 3, 1), ("tcp", 2, 2), ("shm", 2, 1)):
            with self.subTest(transport=transport):
                _, attached = self.rack(count, transport, devices=devices)
                native = run([self.graph, 3], sim_env(devices=count * devices, memory="256MiB"), preload=True)
                out, trace = self.traced(attached, 3, program=self.graph)
                self.assertEqual((0, out), native[:2])
                self.assertIn(("send", "SignalPeer"), counted(trace))

    def test_a_loop_of_a_graph_over_servers_is_at_one_of_them(self):
        """And who sets its condition, too: else the graph is refused."""
        _, attached = self.rack(2, "tcp")
        native = run([self.conditions, "devices"], sim_env(devices=2, memory="256MiB"), preload=True)
        self.assertEqual((0, native[1]), (native[0], self.traced(attached, "devices", program=self.conditions)[0]))
        code, out, err = run([self.conditions, "parted"], attached.env, preload=True)
        self.assertEqual((code, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:])
        self.assertIn("the kernels that set their conditions, lie on several servers", err)
        for env in (attached.env, sim_env(memory="256MiB")):
            code, out, err = run([self.conditions, "others"], env, preload=True)
            self.assertEqual((code, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:])

    def test_launches_of_such_a_graph_ask_nothing(self):
        """And what servers have for each other goes past the client."""
        _, attached = self.rack()
        once, often = (Counter(counted(self.traced(attached, times, program=self.graph)[1])) for times in (1, 5))
        more = often - once
        self.assertEqual(more["send", "ExportMemory"], 4, "a copy between servers a launch")
        self.assertEqual(more["send", "SignalPeer"], more["send", "AwaitPeer"])
        self.assertEqual([what for what, _ in more if what == "call"], [], "nothing is waited for")
        names = ("ReadMemory", "WriteMemory", "ReadRows", "WriteRows", "WaitLatch", "WatchEvent")
        self.assertEqual([name for _, name in more if name in names], [])

    def test_a_graph_over_servers_that_do_not_reach_each_other_goes_through_the_client(self):
        def unreachable(server):
            return {**server, "address": "127.0.0.1", "port": 9}

        _, attached = self.rack(2, "shm", unreachable)
        _, trace = self.traced(attached, 3, program=self.graph)
        self.assertNotIn("ExportMemory", trace)
        self.assertNotIn("SignalPeer", trace)

    def test_a_server_that_dies_under_a_graph_is_an_error(self):
        """However many launches are on their way: at the server that is left nothing waits for the other one."""
        for victim in (0, 1):
            with self.subTest(victim=victim):
                daemons, attached = self.rack(grace=30)
                client = Client(self, [self.graph, 20, "until-it-fails"], attached.env)
                self.assertEqual(client.line(), "ready")
                for pid in daemons[victim].workers():
                    os.kill(pid, signal.SIGKILL)
                wait_until(
                    lambda: client.process.poll() is not None, 25, "the client's error, sooner than the grace time"
                )
                code, out = client.process.returncode, client.process.stdout.read()
                self.assertEqual(code, 1, out)
                self.assertRegex(out, r"line \d+: cuda\w+\(.*\): cudaError\w+\n")

    def through_relay(self, **more):
        """Two daemons; whoever reaches the second, client or server, does so by the relay."""
        daemons, attached = self.rack(**more)
        relay = PeerRelay(daemons[1].address["port"])
        self.addCleanup(relay.close)
        leases = json.loads(attached.file.read_text())
        leases["servers"][1] = relay.through(leases["servers"][1])
        file = attached.folder / "through-relay.json"
        file.touch(0o600)
        file.write_text(json.dumps(leases))
        return daemons, relay, {**attached.env, "FLEXRACK_LEASES": str(file)}

    def test_a_link_between_servers_that_drops_costs_time_only(self):
        _, relay, env = self.through_relay(grace=30)
        client = Client(self, [self.load, 40, 16 * MEBIBYTE], env)
        self.assertEqual(client.line(), "ready")
        for _ in range(3):
            relay.drop_peers()
        code, last, err = client.finish(120)
        self.assertEqual((code, last), (0, "rounds 40"), err[-3000:])

    def test_a_cut_between_servers_is_an_error_and_then_another_way_is_found(self):
        _, relay, env = self.through_relay(grace=GRACE)
        client = Client(self, [self.load, 0, 16 * MEBIBYTE], env)
        self.assertEqual(client.line(), "ready")
        relay.cut_peers()
        wait_until(lambda: client.process.poll() is not None, 5 * GRACE + 30, "the client's error")
        code, out, err = client.process.returncode, client.process.stdout.read(), client.process.stderr.read()
        self.assertEqual(code, 5, out + err[-3000:])
        self.assertRegex(out, r"error cudaError\w+ in .*\nagain cudaSuccess\n")

    def test_a_server_that_dies_in_the_middle_is_an_error(self):
        for victim in (0, 1):
            with self.subTest(victim=victim):
                daemons, attached = self.rack(grace=30)
                client = Client(self, [self.load, 0, 16 * MEBIBYTE], attached.env)
                self.assertEqual(client.line(), "ready")
                for pid in daemons[victim].workers():
                    os.kill(pid, signal.SIGKILL)
                wait_until(
                    lambda: client.process.poll() is not None, 25, "the client's error, sooner than the grace time"
                )
                code, out = client.process.returncode, client.process.stdout.read()
                self.assertEqual(code, 5, out)
                self.assertRegex(out, r"error cudaError\w+ in .*\nagain cudaError\w+\n")

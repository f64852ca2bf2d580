"""What CUDA programs see when links, workers and brokers are lost, and what they leave when they are: real processes,
the GPU in software.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from cuda_programs import NATIVE, build
from servers import BUILD, sanitizer_runtime, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

MEBIBYTE, GRACE = 1 << 20, 8


class Relay:
    """A link of its own to a daemon: connections of both sides, so many bytes a second each way. It can be cut, which
    nobody is told, and its connections be dropped.
    """

    def __init__(self, port, rate=None):
        self.port, self.rate, self.is_cut = port, rate, False
        self.links, self.lock = set(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                near.close()
                continue
            with self.lock:
                self.links |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        try:
            while data := one.recv(65536):
                if self.rate:
                    time.sleep(len(data) / self.rate)
                self.wait_while_cut()
                other.sendall(data)
        except OSError:
            pass
        self.wait_while_cut()  # nor does an end pass
        for link in (one, other):
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def wait_while_cut(self):
        while self.is_cut:
            time.sleep(0.02)

    def cut(self):
        self.is_cut = True

    def mend(self):
        self.is_cut = False

    def drop(self):
        """All connections of now; new ones come about."""
        with self.lock:
            for link in self.links:
                try:
                    link.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.links.clear()

    def through(self, server):
        """A lease's server, reached by this link."""
        return {**server, "address": self.address[0], "port": self.address[1]}

    def close(self):
        self.listener.close()
        self.drop()
        self.mend()


class Client:
    """A program at work: its lines as they come."""

    def __init__(self, case, words, env):
        env = dict(env)
        if BUILD.name == "asan":  # no program of ours: the driver's sanitizer has to be there first
            env |= {"LD_PRELOAD": sanitizer_runtime()}
        self.process = subprocess.Popen(
            [str(word) for word in words],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        case.addCleanup(self.end)

    def line(self):
        return self.process.stdout.readline().strip()

    def finish(self, seconds):
        """(exit code, what it printed last, its errors); its input ends."""
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out.strip().split("\n")[-1], err

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class CudaFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        programs = build(sources=NATIVE / "test" / "cuda_fault")
        cls.load, cls.keep = programs["load"]["static"], programs["keep"]["shared"]

    def serve(self, **options):
        daemon = GpuDaemon("sim", options=("--sim-memory", str(1 << 30)), **options)
        self.addCleanup(daemon.stop)
        return daemon

    def attach(self, daemon, transport="tls", **options):
        attached = GpuAttached([daemon], transport, **options)
        self.addCleanup(attached.close)
        return attached

    def relay(self, daemon, attached, **options):
        """A link for programs alone: who holds the lease has one that stays."""
        relay = Relay(daemon.address["port"], **options)
        self.addCleanup(relay.close)
        leases = json.loads(attached.file.read_text())
        leases["servers"] = [relay.through(server) for server in leases["servers"]]
        file = attached.folder / "through-relay.json"
        file.touch(0o600)
        file.write_text(json.dumps(leases))
        return relay, {**attached.env, "FLEXRACK_LEASES": str(file)}

    def used(self, daemon):
        return sum(device["used"] for device in daemon.ask("devices")["devices"])

    def test_a_link_that_is_cut_in_mid_transfer_costs_time_only(self):
        daemon = self.serve(grace=30)
        relay, env = self.relay(daemon, self.attach(daemon))
        client = Client(self, [self.load, 8, 16 * MEBIBYTE], env)
        self.assertEqual(client.line(), "ready")
        relay.drop()
        time.sleep(0.5)
        relay.drop()
        relay.cut()
        time.sleep(0.3)
        relay.mend()
        time.sleep(0.5)
        relay.cut()
        time.sleep(5)  # what is tried is this very length
        relay.mend()
        code, last, err = client.finish(180)
        self.assertEqual((code, last), (0, "rounds 8"), err[-3000:] + daemon.said()[-3000:])

    def test_a_link_that_is_gone_beyond_the_grace_time_is_an_error_and_the_memory_is_free_again(self):
        daemon = self.serve(grace=GRACE)
        relay, env = self.relay(daemon, self.attach(daemon))
        client = Client(self, [self.load, 0, 4 * MEBIBYTE], env)
        self.assertEqual(client.line(), "ready")
        relay.cut()
        wait_until(lambda: client.process.poll() is not None, GRACE + 30, "the client's error")
        code, last, err = client.finish(5)
        self.assertEqual(code, 5, last + err[-3000:])
        self.assertRegex(last, r"^error cudaError\w+ in ")
        wait_until(lambda: not daemon.workers() and self.used(daemon) == 0, GRACE + 30, "the worker's end")

    def test_a_slow_link_is_slow_and_nothing_else(self):
        daemon = self.serve()
        _, env = self.relay(daemon, self.attach(daemon), rate=4 * MEBIBYTE)
        code, last, err = Client(self, [self.load, 3, 2 * MEBIBYTE], env).finish(180)
        self.assertEqual((code, last), (0, "rounds 3"), err[-3000:] + daemon.said()[-3000:])

    def test_a_killed_worker_is_an_error_for_its_client_alone(self):
        daemon = self.serve()
        first, second = (self.attach(daemon, share={"fraction": 0.25}) for _ in range(2))
        one, other = (Client(self, [self.load, 0, MEBIBYTE], attached.env) for attached in (first, second))
        self.assertEqual((one.line(), other.line()), ("ready", "ready"))
        lease = next(lease for lease in daemon.ask("leases")["leases"] if lease["lease"] == first.leases[0]["lease"])
        for session in lease["sessions"]:
            os.kill(session["pid"], signal.SIGKILL)
        wait_until(lambda: one.process.poll() is not None, 60, "the client's error")
        code, last, _ = one.finish(5)
        self.assertEqual(code, 5, last)
        self.assertRegex(last, r"^error cudaError\w+ in ")
        code, last, err = other.finish(180)
        self.assertEqual(code, 0, last + err[-3000:])

    def test_memory_of_a_client_that_vanishes_is_given_back_in_seconds_though_its_kernel_never_ends(self):
        daemon = self.serve()
        for transport, more in (("tls", ()), ("shm", ()), ("tls", ("endless",)), ("shm", ("endless",))):
            with self.subTest(transport=transport, more=more):
                attached = self.attach(daemon, transport)
                client = Client(self, [self.keep, 64 * MEBIBYTE, *more], attached.env)
                self.assertEqual(client.line(), "ready")
                self.assertGreaterEqual(self.used(daemon), 64 * MEBIBYTE)
                client.process.kill()
                killed = time.monotonic()
                # 3 s is what is promised; the rest is room for a busy machine.
                wait_until(lambda: self.used(daemon) == 0 and not daemon.workers(), 60, "the memory's being given back")
                print(
                    f"    {transport} {' '.join(more)}: memory of a killed client was back after {time.monotonic() - killed:.2f} s"
                )
                attached.close()

    def test_a_graph_whose_loop_never_ends_is_over_with_its_client(self):
        program = build(names=["graph_conditions"])["graph_conditions"]["static"]
        daemon = self.serve()
        attached = self.attach(daemon, "tls")
        client = Client(self, [program, "endless"], attached.env)
        self.assertEqual(client.line(), "ready")
        client.process.kill()
        wait_until(lambda: self.used(daemon) == 0 and not daemon.workers(), 60, "the end of the session")
        code, out, err = Client(self, [program], attached.env).finish(180)
        self.assertEqual((code, out), (0, "PASS"), err[-3000:])

    def test_a_broker_that_is_restarted_under_load_is_not_noticed(self):
        daemon = self.serve()
        attached = self.attach(daemon)
        client = Client(self, [self.load, 0, MEBIBYTE], attached.env)
        self.assertEqual(client.line(), "ready")
        worker, port = daemon.workers(), daemon.address["port"]
        for how in (signal.SIGTERM, signal.SIGKILL):
            daemon.end_broker(how)
            daemon.command[daemon.command.index("--port") + 1] = str(port)
            daemon.start()
            wait_until(lambda: daemon.workers() == worker, 60, "the new broker's finding the worker")
            wait_until(lambda: attached.state() == "held", 60, "the lease's being held again")
        code, last, err = client.finish(180)
        self.assertEqual(code, 0, last + err[-3000:])
        code, last, err = Client(self, [self.load, 2, MEBIBYTE], attached.env).finish(180)
        self.assertEqual((code, last), (0, "rounds 2"), err[-3000:])

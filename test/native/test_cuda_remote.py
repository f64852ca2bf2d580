"""CUDA programs built by nvcc, unchanged, on GPUs that are elsewhere: their output is what it is on the GPU itself,
byte for byte.
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

from cuda_programs import build
from servers import run
from test_cuda_programs import sim_env
from traces import counted, round_trips

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

PROGRAMS = [
    "async_alloc",
    "blocking_copies",
    "callbacks",
    "cnn_step",
    "constant_texture",
    "cooperative",
    "copies",
    "driver_api",
    "expandable",
    "graph_conditions",
    "graph_driver",
    "graph_fault",
    "graph_launches",
    "graph_memory",
    "graphs",
    "histogram",
    "host_limit",
    "host_turns",
    "large_copies",
    "managed_memory",
    "many_launches",
    "matmul_tiled",
    "mlp",
    "pinned_mapped",
    "printf_assert",
    "reduction",
    "refused_launch",
    "scan",
    "separate",
    "streams_events",
    "transpose",
    "two_threads",
    "unknown_addresses",
    "vector_add",
    "vmm",
]
# Those that move most, or wait most. Over shared memory all run, in the long tests over TLS, too.
MOVING = [
    "async_alloc",
    "blocking_copies",
    "callbacks",
    "cnn_step",
    "copies",
    "expandable",
    "graph_conditions",
    "graph_driver",
    "graph_memory",
    "graphs",
    "host_turns",
    "large_copies",
    "managed_memory",
    "many_launches",
    "pinned_mapped",
    "printf_assert",
    "streams_events",
    "two_threads",
    "unknown_addresses",
    "vmm",
]
OVER_TLS = PROGRAMS if "FLEXRACK_LONG" in os.environ else MOVING
# It is TLS without the cipher.
OVER_TCP = (
    MOVING
    if "FLEXRACK_LONG" in os.environ
    else ["async_alloc", "copies", "graph_conditions", "graphs", "managed_memory"]
)
MEMORY = 4 << 30


class CudaRemote(unittest.TestCase):
    maxDiff = None
    natively = {}

    @classmethod
    def setUpClass(cls):
        cls.programs = build()

    def native(self, name, runtime, devices=1):
        """What a program does on GPUs of its own, which is asked once."""
        key = (name, runtime, devices)
        if key not in self.natively:
            self.natively[key] = run(
                [self.programs[name][runtime]], sim_env(memory=str(MEMORY), devices=devices), preload=True
            )
        return self.natively[key]

    def compare(self, names, transport, runtime, daemons=1):
        """Each program natively and attached. Its devices are as many as there are daemons."""
        started = []
        try:
            for _ in range(daemons):
                started.append(
                    GpuDaemon(
                        "sim", transport="tcp" if transport == "tcp" else "auto", options=("--sim-memory", str(MEMORY))
                    )
                )
            with GpuAttached(started, transport) as attached:
                for name in names:
                    with self.subTest(program=name, transport=transport):
                        native = self.native(name, runtime, daemons)
                        remote = run([self.programs[name][runtime]], attached.env, preload=True)
                        self.assertEqual(remote[:2], native[:2], remote[2][-2000:] + started[0].said()[-2000:])
        finally:
            for daemon in started:
                daemon.stop()

    def test_shared_memory(self):
        self.compare(PROGRAMS, "shm", "static")

    def test_tls(self):
        self.compare(OVER_TLS, "tls", "shared")

    def test_tcp(self):
        self.compare(OVER_TCP, "tcp", "static")

    def test_memory_is_compared_where_nobody_says_what_was_written_to(self):
        daemon = GpuDaemon("sim", transport="auto", options=("--sim-memory", str(MEMORY)))
        try:
            with GpuAttached([daemon], "shm") as attached:
                for name in ("host_turns", "managed_memory", "pinned_mapped"):
                    program = self.programs[name]["static"]
                    native = self.native(name, "static")
                    words = [sys.executable, str(Path(__file__).parent / "without_userfaultfd.py"), str(program)]
                    remote = run(words, {**attached.env, "FLEXRACK_TRACE": "/dev/stderr"}, preload=True)
                    self.assertEqual(remote[:2], native[:2], remote[2][-2000:])
                    self.assertIn("which pages were written to", remote[2])
        finally:
            daemon.stop()

    def test_host_memory_that_kernels_use_is_bounded(self):
        daemon = GpuDaemon("sim", transport="auto", options=("--sim-memory", str(512 << 20)))
        try:
            with GpuAttached([daemon], "shm") as attached:
                code, out, err = run([self.programs["host_limit"]["static"], "say"], attached.env, preload=True)
                self.assertEqual(
                    (code, out.count("\n8 pieces\n") + out.startswith("8 pieces\n")), (0, 2), out + err[-2000:]
                )
        finally:
            daemon.stop()

    def test_copies_larger_than_what_may_be_staged(self):
        """A worker that stages 64 MiB at most, for all of its streams, takes 96 at once, both ways."""
        daemon = GpuDaemon(
            "sim",
            transport="auto",
            options=("--sim-memory", str(512 << 20)),
            env={"FLEXRACK_TEST_STAGING_BYTES": str(64 << 20)},
        )
        try:
            for transport in ("shm", "tls"):
                with GpuAttached([daemon], transport) as attached:
                    code, out, err = run([self.programs["large_copies"]["static"], 96], attached.env, preload=True)
                    self.assertEqual(
                        (code, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:] + daemon.said()[-2000:]
                    )
        finally:
            daemon.stop()

    def test_memory_of_graphs_is_charged_to_the_share(self):
        daemon = GpuDaemon("sim", options=("--sim-memory", str(1 << 30)))
        try:
            with GpuAttached([daemon]) as attached:
                code, out, err = run([self.programs["graph_memory"]["static"], "share"], attached.env, preload=True)
                self.assertEqual(
                    (code, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:] + daemon.said()[-2000:]
                )
        finally:
            daemon.stop()

    def test_graphs_run_on_half_a_device(self):
        """More launches under way than the worker has threads, each waiting for its share's turn, with bytes both ways
        and functions in the client.
        """
        daemon = GpuDaemon("sim")
        try:
            with GpuAttached([daemon], share={"compute": 0.5, "memory": 1 << 30}) as attached:
                for name in ("graphs", "graph_memory"):
                    code, out, err = run([self.programs[name]["static"]], attached.env, preload=True)
                    self.assertEqual(
                        (code, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:] + daemon.said()[-2000:]
                    )
        finally:
            daemon.stop()

    def test_launches_of_graphs_ask_nothing(self):
        """However many there are: what is asked is asked by what comes before and after them."""
        daemon = GpuDaemon("sim")
        asked = []
        try:
            with GpuAttached([daemon]) as attached, tempfile.TemporaryDirectory(prefix="flexrack-trace-") as folder:
                for times in (1, 10):
                    trace = Path(folder) / str(times)
                    code, out, err = run(
                        [self.programs["graph_launches"]["static"], str(times)],
                        {**attached.env, "FLEXRACK_TRACE": str(trace)},
                        preload=True,
                    )
                    self.assertEqual((code, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:])
                    asked.append(round_trips(counted(trace.read_text())))
        finally:
            daemon.stop()
        self.assertEqual(asked[0], asked[1])
        self.assertTrue(0 < asked[0] <= 16, asked)

    def test_devices_of_four_daemons_are_one_list(self):
        self.compare(
            ["peer", "vector_add", "two_threads", "host_turns", "managed_memory", "vmm"], "tls", "static", daemons=4
        )

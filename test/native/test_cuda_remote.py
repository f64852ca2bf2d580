"""CUDA programs built by nvcc, unchanged, on GPUs that are elsewhere: their output is what it is on the GPU itself, byte for byte."""
import sys
import unittest
from pathlib import Path

from cuda_programs import build
from servers import run
from test_cuda_programs import sim_env

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

# The others need what the client does not have yet (README.md): graphs, managed and mapped memory, virtual memory management, batched copies.
PROGRAMS = ["async_alloc", "callbacks", "constant_texture", "cooperative", "driver_api", "histogram", "many_launches", "matmul_tiled", "mlp", "printf_assert",
            "reduction", "scan", "separate", "streams_events", "transpose", "two_threads", "vector_add"]
MEMORY = 4 << 30


class CudaRemote(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.programs = build()

    def compare(self, names, transport, runtime, daemons=1):
        """Each program natively and attached. Its devices are as many as there are daemons."""
        started = []
        try:
            for _ in range(daemons):
                started.append(GpuDaemon("sim", transport="tcp" if transport == "tcp" else "auto", options=("--sim-memory", str(MEMORY))))
            with GpuAttached(started, transport) as attached:
                for name in names:
                    with self.subTest(program=name, transport=transport):
                        program = self.programs[name][runtime]
                        native = run([program], sim_env(memory=str(MEMORY), devices=daemons), preload=True)
                        remote = run([program], attached.env, preload=True)
                        self.assertEqual(remote[:2], native[:2], remote[2][-2000:] + started[0].said()[-2000:])
        finally:
            for daemon in started:
                daemon.stop()

    def test_shared_memory(self):
        self.compare(PROGRAMS, "shm", "static")

    def test_tls(self):
        self.compare(PROGRAMS, "tls", "shared")

    def test_tcp(self):
        self.compare(PROGRAMS[:6], "tcp", "static")

    def test_devices_of_four_daemons_are_one_list(self):
        self.compare(["peer", "vector_add", "two_threads"], "tls", "static", daemons=4)

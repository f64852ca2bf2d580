"""Model servers as a node keeps them running, with shares of a GPU in software: real services, a real daemon, and whoever
holds a lease killed (node: serving/with_gpus.py).
"""

import io
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

from leasing import DRIVERS, MIB, ONE_GPU, put_programs
from servers import BUILD, ROOT, sanitizer_runtime, wait_until

sys.path.insert(0, str(ROOT / "native" / "test" / "gpu"))
sys.path.insert(0, str(ROOT / "node"))
from flexrack_node.base.channel import Channel  # noqa: E402
from flexrack_node.service import control  # noqa: E402
from flexrack_node.service.record import ServiceRecord  # noqa: E402
from rack import GpuDaemon  # noqa: E402

# Answers with what it was sent, through the memory of the GPU that it sees.
SERVER = """
import ctypes, json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

def check(status):
    if status != 0:
        raise SystemExit(f"CUDA error {status}")

cuda = ctypes.CDLL("libcuda.so.1")
check(cuda.cuInit(0))
count, total, context, address = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_void_p(), ctypes.c_uint64()
check(cuda.cuDeviceGetCount(ctypes.byref(count)))
check(cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4096)))

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        data = self.rfile.read(int(self.headers["content-length"]))
        back = ctypes.create_string_buffer(len(data))
        check(cuda.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(len(data))))
        check(cuda.cuMemcpyDtoH_v2(back, address, ctypes.c_size_t(len(data))))
        self.send_response(200)
        self.end_headers()
        seen = {"pid": os.getpid(), "devices": count.value, "memory": total.value, "back": back.raw.decode()}
        self.wfile.write(json.dumps(seen).encode())

    def log_message(self, *words):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class ServerLeasesTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-server-leases-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        kept = self.folder / "gpu" / "daemon"
        kept.mkdir(parents=True, mode=0o700)
        self.daemon = GpuDaemon("sim", root=kept, transport="tls", grace=2)
        self.addCleanup(self.daemon.stop)
        put_programs(self.folder)
        (self.folder / "serve.py").write_text(SERVER)
        self.channel = Channel(self.folder, self.folder / "environments", io.BytesIO())
        self.ports = {}

    def start(self, service):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.ports[service] = one.getsockname()[1]
        preload = ["env", f"LD_PRELOAD={sanitizer_runtime()}"] if BUILD.name == "asan" else []
        given = {
            "id": service,
            "argv": [*preload, sys.executable, str(self.folder / "serve.py"), str(self.ports[service])],
            "grace": 5,
            "restart": {"max": 50, "window_seconds": 60},
            "gpus": {**ONE_GPU, **DRIVERS, "purpose": service},
        }
        self.addCleanup(control.stop, {"id": service, "grace": 1}, self.channel)
        control.start(given, self.channel)

    def ask(self, service, but=None):
        """What a server answers that is another one than `but`."""
        found = {}

        def answers():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[service]}/", b"text", timeout=10) as answer:
                    found.update(json.load(answer))
            except OSError:
                return False
            return found["pid"] != but

        wait_until(answers, what=f"an answer of {service}")
        self.assertEqual([found["devices"], found["memory"], found["back"]], [1, 64 * MIB, "text"])
        return found["pid"]

    def holds(self, *purposes):
        wait_until(
            lambda: sorted(one["purpose"] for one in self.daemon.ask("leases")["leases"]) == sorted(purposes),
            what=f"leases of {purposes}",
        )

    def test_each_has_its_share_while_it_lives_whoever_is_killed(self):
        self.start("a")
        self.start("b")
        first = self.ask("a")
        self.ask("b")
        self.holds("a", "b")
        record = ServiceRecord(self.folder, "a")
        os.kill(control.describe(record)["pid"], signal.SIGKILL)  # who holds its lease
        second = self.ask("a", but=first)
        self.holds("a", "b")
        os.kill(second, signal.SIGKILL)
        third = self.ask("a", but=second)
        self.holds("a", "b")
        os.kill(record.state()["supervisor"]["pid"], signal.SIGKILL)
        wait_until(lambda: not record.is_supervised(), what="the supervisor's end")
        self.assertEqual(self.ask("a"), third)
        control.status({"id": "a"}, self.channel)  # gives it another supervisor
        lease = next(one["lease"] for one in self.daemon.ask("leases")["leases"] if one["purpose"] == "a")
        self.daemon.ask("release", lease=lease)
        self.ask("a", but=third)
        self.holds("a", "b")
        control.halt(record, 5)  # as its node's agent does it
        self.holds("b")
        control.stop({"id": "b", "grace": 5}, self.channel)
        self.holds()


if __name__ == "__main__":
    unittest.main()

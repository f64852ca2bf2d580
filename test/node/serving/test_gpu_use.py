"""What an agent tells of GPUs: by what the daemon's socket answers."""

import json
import shutil
import socket
import tempfile
import threading
import unittest
from pathlib import Path

from flexrack_node.base.stored import write
from flexrack_node.serving.gpu_use import leased_by_servers


def lease(purpose, state="held", devices=(0,)):
    device = {"id": "d", "name": "n", "compute": 1.0, "whole": False, "cap": True}
    return {
        "purpose": purpose,
        "state": state,
        "devices": [{**device, "index": one, "memory": 64, "used": 8, "utilization": 0.25} for one in devices],
    }


class GpuUseTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-gpus-"))
        self.addCleanup(shutil.rmtree, self.root)

    def daemon(self, answer: bytes) -> None:
        """Answers one question."""
        path = self.root / "admin"
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(path))
        listening.listen()
        (self.root / "gpu" / "daemon").mkdir(parents=True)
        write("gpu.address", self.root / "gpu" / "daemon" / "address.json", {"admin": str(path)})

        def serve() -> None:
            link, _ = listening.accept()
            with link:
                self.asked = json.loads(link.recv(65536))
                link.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()

    def test_leases_of_model_servers_are_told_one_a_gpu_and_no_others(self) -> None:
        leases = [
            lease("model server endpoint-eyes-r1-0 on a", devices=(0, 2)),
            lease("model server endpoint-ears-r3-1 on b"),
            lease("model server endpoint-late-r1-0 on a", state="granted"),
            lease("model server endpoint-lost-r1-0 on a", state="lost"),
            lease("notebook of a model server x on a"),
            lease("run 12, rank 0"),
        ]
        self.daemon(json.dumps({"ok": {"leases": leases}}).encode() + b"\n")
        use = {"busy": 0.25, "used": 8, "memory": 64}
        self.assertEqual(
            leased_by_servers(self.root),
            [
                {"service": "endpoint-eyes-r1-0", "index": 0, **use},
                {"service": "endpoint-eyes-r1-0", "index": 2, **use},
                {"service": "endpoint-ears-r3-1", "index": 0, **use},
            ],
        )
        self.assertEqual(self.asked, {"op": "leases"})

    def test_nothing_where_no_daemon_runs_or_it_answers_nonsense(self) -> None:
        self.assertEqual(leased_by_servers(self.root), [])
        self.daemon(b"no answer\n")
        self.assertEqual(leased_by_servers(self.root), [])

import json
import os
import socket
import threading
from pathlib import Path
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import claims, reserving
from reservation_support import Case

A, B = (f"GPU-00000000-0000-0000-0000-00000000000{number}" for number in "12")


class Daemon:
    """The admin socket of a GPU daemon with devices A and B, of which leases can be had: it keeps no other books."""

    def __init__(self, root: Path) -> None:
        self.leases = []
        path = root / "gpu" / "admin.sock"
        (root / "gpu" / "daemon").mkdir(parents=True)
        (root / "gpu" / "daemon" / "address.json").write_text(json.dumps({"admin": str(path)}))
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self.socket.accept()
            except OSError:
                return
            with link, link.makefile("rb") as lines:
                link.sendall(json.dumps({"ok": self._answer(json.loads(lines.readline()))}).encode() + b"\n")

    def _answer(self, requested):
        if requested["op"] == "devices":
            return {"devices": [{"id": one, "index": index} for index, one in enumerate((A, B))]}
        if requested["op"] == "leases":
            return {"leases": self.leases}
        if requested["op"] == "lease":
            self.leases.append(
                {
                    "lease": "f" * 32,
                    "owner": requested["owner"],
                    "created": 1,
                    "devices": [{"id": one} for one in requested["devices"]],
                }
            )
        return {}


class ClaimsTest(Case):
    def setUp(self):
        super().setUp()
        self.daemon = Daemon(self.channel.root)
        self.addCleanup(self.daemon.socket.close)
        ids = mock.patch.object(reserving, "gpu_ids", lambda: [A, B])  # a machine with NVIDIA's driver
        ids.start()
        self.addCleanup(ids.stop)

    def run_with(self, lease, gpus, **parts):
        return self.ask(lease, exclusive=False, wants={"gpus": gpus, "slots": 1, "exclusive": False}, **parts)

    def test_who_has_a_whole_node_has_its_gpus_whether_it_names_them_or_not(self):
        wants = {"gpus": [], "slots": 1, "exclusive": True}
        self.assertEqual(self.ask("digits", exclusive=True, wants=wants)["gpus"], [A, B])
        self.assertEqual(self.run_with("other", [])["gpus"], [])

    def test_no_lease_is_given_of_a_gpu_that_a_run_has(self):
        self.assertTrue(self.run_with("digits", [A])["granted"])
        with self.assertRaises(NodeError) as refused:
            claims.lease({"devices": [A], "whole": True, "owner": "ada@here"}, self.channel)
        self.assertEqual(
            (refused.exception.code, refused.exception.message),
            ("GPU_UNAVAILABLE", f"{A} is reserved for run digits of digits@here"),
        )
        self.assertEqual(self.daemon.leases, [])
        claims.lease({"devices": [B], "whole": True, "owner": "ada@here"}, self.channel)
        self.assertEqual(
            [one.get("reserved") for one in claims.state({}, self.channel)["devices"]],
            [{"lease": "digits", "owner": "digits@here"}, None],
        )

    def test_no_run_gets_a_gpu_of_which_somebody_has_a_lease(self):
        claims.lease({"devices": [A], "whole": True, "owner": "ada@here"}, self.channel)
        answer = self.run_with("digits", [A, B])
        self.assertFalse(answer["granted"])
        self.assertEqual(
            [(one["lease"], one["owner"], one["over"]) for one in answer["holders"]],
            [("GPU lease ffffffff", "ada@here", f"GPU {A}")],
        )
        self.assertTrue(self.run_with("other", [B])["granted"])
        self.daemon.leases.clear()
        self.assertTrue(self.run_with("digits", [A])["granted"])

    def test_who_waits_in_line_for_a_gpu_keeps_nobody_from_leasing_it(self):
        self.run_with("first", [A])
        self.run_with("second", [A, B], wait=True)
        claims.lease({"devices": [B], "whole": True, "owner": "ada@here"}, self.channel)

    def test_a_run_without_gpus_asks_no_daemon(self):
        os.unlink(self.channel.root / "gpu" / "admin.sock")
        self.assertTrue(self.ask("digits")["granted"])

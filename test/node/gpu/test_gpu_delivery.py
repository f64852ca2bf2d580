"""Leases for a command on this node: files for the owner only, no more than is needed, and gone when nobody reads them."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base import installed
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import claims, delivery
from waiting import until


class GpuDeliveryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-delivery-"))
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())
        self.addCleanup(shutil.rmtree, self.root)

    def deliver(self, **drivers):
        server = {
            "node": "n",
            "address": "127.0.0.1",
            "port": 1,
            "unix": "",
            "boot_id": "b",
            "transport": "tcp",
            "api": "opencl",
            "lease": "l",
            "key": "ab",
            "devices": [],
        }
        leases = {"version": 1, "grace_seconds": 30, "servers": [server]}
        return delivery.deliver(
            {"leases": leases, "keeper": "keeper-1", "icd": "../driver.so", "libraries": {}, **drivers}, self.channel
        )

    def test_a_lease_file_is_the_owners_alone_and_goes_away_whole(self):
        placed = self.deliver()
        self.assertEqual(os.stat(placed["file"]).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(placed["folder"]).st_mode & 0o077, 0)
        self.assertEqual(json.loads(Path(placed["file"]).read_text())["servers"][0]["key"], "ab")
        programs = self.root / "gpu" / "program"
        self.assertEqual(
            {path.name: path.read_text() for path in Path(placed["vendors"]).iterdir()},
            {"flexrack.icd": f"{programs}/driver.so\n"},
        )
        self.assertEqual(placed["keeper"], f"{programs}/keeper-1")
        self.assertIsNone(placed["libraries"])
        self.assertEqual(
            delivery.forget({"folder": f"/somewhere/else/{Path(placed['folder']).name}"}, self.channel),
            {"removed": True},
        )
        self.assertFalse(Path(placed["folder"]).exists())
        self.assertEqual([entry["path"] for entry in installed.listing(self.root)], ["gpu"])

    def test_cuda_libraries_are_links_in_a_folder_of_their_own_and_nothing_of_opencl_is_there(self):
        placed = self.deliver(icd=None, libraries={"libcuda.so.1": "../cuda-1.so", "../libcuda.so": "cuda-1.so"})
        programs = self.root / "gpu" / "program"
        self.assertIsNone(placed["vendors"])
        links = {path.name: os.readlink(path) for path in Path(placed["libraries"]).iterdir()}
        self.assertEqual(links, {"libcuda.so.1": f"{programs}/cuda-1.so", "libcuda.so": f"{programs}/cuda-1.so"})
        self.assertEqual(sorted(path.name for path in Path(placed["folder"]).iterdir()), ["leases.json", "libraries"])

    def test_what_broken_connections_left_is_swept_but_not_what_is_read(self):
        left, read, young = (self.deliver() for _ in range(3))
        reader = subprocess.Popen([sys.executable, "-c", "input()", read["file"]], stdin=subprocess.PIPE)
        try:
            # A process that has just begun has no command line for a moment.
            until(lambda: read["file"].encode() in Path("/proc", str(reader.pid), "cmdline").read_bytes())
            for one in (left, read):
                os.utime(one["folder"], (0, 0))
            self.deliver()
            self.assertEqual([Path(one["folder"]).exists() for one in (left, read, young)], [False, True, True])
        finally:
            reader.communicate(b"\n")

    def test_without_a_daemon_there_is_nothing_and_a_lease_is_refused(self):
        self.assertEqual(
            claims.state({}, self.channel), {"state": "absent", "status": None, "devices": [], "leases": []}
        )
        with self.assertRaises(NodeError) as refused:
            claims.lease({"devices": ["x"]}, self.channel)
        self.assertEqual((refused.exception.code, refused.exception.hint), ("GPU_FAILED", "flexrack gpu serve"))

"""Which checkpoint is whole, told by its files; and how one gets from node to node."""

import io
import json
import os
import secrets
import struct
import tempfile
import unittest
import zipfile
from pathlib import Path

from flexrack_node.link import checkpoint
from flexrack_node.link.peer import PeerPort, fetch, reach


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outputs = Path(folder.name) / "outputs"
        (self.outputs / "c").mkdir(parents=True)
        self.time = 1_000_000_000

    def put(self, name, data=b"x"):
        """Each is newer than the one before."""
        path = self.outputs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.time += 1
        os.utime(path, (self.time, self.time))
        return path

    def newest(self, path="c/", **more):
        found = checkpoint.newest(self.outputs, {"path": path, **more})
        return found and found["name"]

    def test_the_newest_whole_one_is_taken_and_half_written_ones_are_passed_over(self):
        self.assertIsNone(self.newest())
        self.put("c/step-1.pt")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("data.pkl", b"0" * 5000)
        self.put("c/step-2.pt", archive.getvalue())
        self.assertEqual(self.newest(), "c/step-2.pt")
        self.put("c/step-3.pt", archive.getvalue()[:-40])  # torch.save() that was broken off
        self.put("c/step-4.pt", b"")
        for name in ("step-5.pt.partial", "step-5.pt.tmp", ".step-5.pt", "tmp-step-5", "step-5.pt.incomplete"):
            self.put(f"c/{name}")
        self.assertEqual(self.newest(), "c/step-2.pt")
        header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        self.put("c/a.safetensors", struct.pack("<Q", len(header)) + header + bytes(7))
        self.assertEqual(self.newest(), "c/step-2.pt")
        self.put("c/a.safetensors", struct.pack("<Q", len(header)) + header + bytes(8))
        self.assertEqual(self.newest(), "c/a.safetensors")

    def test_a_folder_is_whole_with_all_of_its_files_its_metadata_and_its_marker(self):
        self.put("c/one/__0_0.distcp")
        self.assertIsNone(self.newest())
        self.put("c/one/.metadata")
        self.assertEqual(self.newest(), "c/one")
        self.put("c/two/weights.bin")
        self.put("c/two/optimizer.bin.tmp")
        self.assertEqual(self.newest(), "c/one")
        self.put("c/three/weights.bin")
        self.assertEqual(self.newest(), "c/three")
        self.assertIsNone(self.newest(marker="DONE"))
        self.put("c/one/DONE")
        self.assertEqual(self.newest(marker="DONE"), "c/one")

    def test_globs_name_files_and_links_are_never_followed(self):
        self.put("c/step-1.pt")
        self.put("c/best.pt")
        (self.outputs / "c" / "step-9.pt").symlink_to("/etc/hostname")
        self.assertEqual(self.newest("c/step-*.pt"), "c/step-1.pt")
        self.put("c/step-2.pt")
        self.put("c/step-2.pt.done")
        self.put("c/step-3.pt")
        self.assertEqual(self.newest("c/step-*.pt", marker=".done"), "c/step-2.pt")
        for name in ("../outside", "/etc/passwd", "c/../../x"):
            with self.assertRaises(ValueError):
                checkpoint.inside(self.outputs, name)

    def test_a_checkpoint_comes_to_another_node_as_it_is_or_not_at_all(self):
        secret = secrets.token_hex(32)
        port = PeerPort("127.0.0.1", secret, self.outputs)
        self.addCleanup(port.close)
        there = self.outputs.parent / "there"
        self.put("c/one/deep/a.bin", os.urandom(3 * 1024 * 1024 + 1))
        self.put("c/one/empty", b"")
        wanted = checkpoint.newest(self.outputs, {"path": "c/"})
        self.assertFalse(checkpoint.has(there, wanted))
        there.mkdir()
        fetch(port.place, secret, "node-2", there, wanted)
        self.assertTrue(checkpoint.has(there, wanted))
        self.assertEqual((there / "c/one/deep/a.bin").read_bytes(), (self.outputs / "c/one/deep/a.bin").read_bytes())
        self.assertEqual(checkpoint.newest(there, {"path": "c/"}), wanted)
        self.put("c/one/deep/a.bin", b"other")
        with self.assertRaises(ValueError):
            fetch(port.place, secret, "node-2", there, {**wanted, "name": "c/two"})
        self.assertEqual(sorted(one.name for one in (there / "c").iterdir()), ["one"])

    def test_who_listens_is_told_from_a_machine_where_nobody_does(self):
        secret = secrets.token_hex(32)
        port = PeerPort("127.0.0.1", secret, self.outputs)
        self.assertEqual(reach(port.place, secret, "node-2"), "reached")
        self.assertEqual(reach(port.place, "another", "node-2"), "silent")
        port.close()
        free = PeerPort("127.0.0.1", secret, self.outputs)
        place = free.place
        free.close()
        self.assertEqual(reach(place, secret, "node-2"), "refused")

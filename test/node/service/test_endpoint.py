"""Files and ports of endpoints on a node."""

import hashlib
import io
import shutil
import socket
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.service import endpoint


class EndpointTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-endpoint-"))
        self.addCleanup(shutil.rmtree, self.root)

    def channel(self, body: bytes = b"") -> Channel:
        return Channel(self.root, self.root / "environments", io.BytesIO(body))

    def given(self, contents, release="r1"):
        files = [
            {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for path, data in contents.items()
        ]
        return {"name": "digits", "release": release, "files": files}

    def place(self, contents, release="r1"):
        return endpoint.place(self.given(contents, release), self.channel(b"".join(contents.values())))

    def test_files_are_placed_whole_and_found_again(self):
        contents = {"model.onnx": b"graph" * 1000, "data/weights": b"", "a.txt": b"x"}
        self.assertFalse(endpoint.check(self.given(contents), self.channel())["complete"])
        folder = Path(self.place(contents)["folder"])
        self.assertEqual({path: (folder / path).read_bytes() for path in contents}, contents)
        self.assertTrue(endpoint.check(self.given(contents), self.channel())["complete"])
        (folder / "model.onnx").write_bytes(b"grapf" * 1000)
        self.assertFalse(endpoint.check(self.given(contents), self.channel())["complete"])
        self.place(contents)
        self.assertTrue(endpoint.check(self.given(contents), self.channel())["complete"])
        self.assertIn('"endpoints/digits"', (self.root / "installed.jsonl").read_text())

    def test_a_transfer_that_is_cut_off_or_changed_leaves_nothing(self):
        given = self.given({"model.onnx": b"12345678"})
        for body, message in ((b"1234", "4 bytes early"), (b"1234567x", "another checksum")):
            with self.assertRaises(NodeError) as caught:
                endpoint.place(given, self.channel(body))
            self.assertIn(message, caught.exception.message)
        self.assertEqual(list((self.root / "endpoints" / "digits" / "r1").iterdir()), [])

    def test_paths_that_lead_out_are_refused(self):
        for path in ("../escape", "/etc/passwd", "a/../../b"):
            with self.assertRaises(NodeError):
                self.place({path: b"x"})
        for name in ("..", "a/b", ""):
            with self.assertRaises(NodeError):
                endpoint.prune({"name": name, "keep": []}, self.channel())

    def test_ports_in_use_and_ports_that_are_spoken_for_are_not_given(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.assertFalse(endpoint.is_free("127.0.0.1", taken.getsockname()[1]))
        exclude = [port for port in endpoint.PORTS if port % 100 != 7]
        ports = endpoint.ports({"count": 3, "host": "127.0.0.1", "exclude": exclude}, self.channel())
        self.assertEqual(len(set(ports)), 3)
        self.assertTrue(all(port % 100 == 7 for port in ports))
        with self.assertRaises(NodeError):
            endpoint.ports({"count": 1, "host": "127.0.0.1", "exclude": list(endpoint.PORTS)}, self.channel())
        with self.assertRaises(NodeError) as caught:
            endpoint.ports({"count": 1, "host": "192.0.2.1", "exclude": []}, self.channel())
        self.assertIn("is not an address of this node", caught.exception.message)

    def test_a_replica_folder_is_made_anew(self):
        given = {"name": "digits", "release": "r1", "replica": 0, "files": {"old.json": "{}"}}
        folder = Path(endpoint.write(given, self.channel())["folder"])
        endpoint.write({**given, "files": {"settings.json": "{}"}}, self.channel())
        self.assertEqual([path.name for path in folder.iterdir()], ["settings.json"])

    def test_pruning_keeps_what_is_named_and_ends_with_nothing(self):
        for release in ("r1", "r2", "r3"):
            self.place({"m": b"x"}, release)
        self.assertEqual(endpoint.prune({"name": "digits", "keep": ["r3", "r1"]}, self.channel()), ["r2"])
        endpoint.prune({"name": "digits", "keep": []}, self.channel())
        self.assertFalse((self.root / "endpoints" / "digits").exists())

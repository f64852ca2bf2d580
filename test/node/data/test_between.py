"""Contents that go from one node to another, over a real socket; and manifests that want more than a version may have."""

import hashlib
import os
import shutil
import socket
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

from data_support import DataCase
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.data import between, verbs
from flexrack_node.data.store import Store, digest_of


class Opened(Channel):
    """Keeps what the giver says of itself."""

    def __init__(self, root):
        super().__init__(root, root / "environments", None)
        self.told, self.opened = {}, threading.Event()

    def event(self, kind, **fields):
        self.told = fields
        self.opened.set()


class BetweenTest(DataCase):
    files = {"a": b"1" * 300_000, "deep/b": b"2" * 10}

    def setUp(self):
        super().setUp()
        self.digest, _answer = self.push(self.files)
        self.other = Path(os.path.realpath(tempfile.mkdtemp(prefix="flexrack-data-")))

    def tearDown(self):
        for path, _folders, _files in os.walk(self.other):
            os.chmod(path, 0o700)
        shutil.rmtree(self.other)
        super().tearDown()

    def giving(self, before=0):
        channel = Opened(self.root)
        manifest = self.manifest(self.files)
        contents = [[digest, False, min(before, size)] for _path, _executable, size, digest in manifest["files"]]
        thread = threading.Thread(
            target=lambda: between.give({"digest": self.digest, "contents": contents, "address": "127.0.0.1"}, channel),
            daemon=True,
        )
        thread.start()
        self.assertTrue(channel.opened.wait(10))
        return channel.told, thread, manifest

    def fetch(self, source, manifest, before=0):
        send = [[digest, False, size, min(before, size)] for _path, _executable, size, digest in manifest["files"]]
        channel = Channel(self.other, self.other / "environments", None)
        channel.event = lambda *_args, **_fields: None
        return between.fetch({"manifest": manifest, "send": send, "limit": None, "source": source}, channel)

    def test_a_version_goes_to_one_node_and_the_giver_ends(self):
        source, thread, manifest = self.giving()
        self.assertEqual(self.fetch(source, manifest), {"bytes": 300_010, "evicted": []})
        self.assertEqual((Store(self.other).version(self.digest) / "tree/deep/b").read_bytes(), b"2" * 10)
        thread.join(10)
        self.assertFalse(thread.is_alive())
        with self.assertRaises(NodeError) as caught:
            self.fetch(source, manifest)
        self.assertEqual(caught.exception.code, "NODE_UNREACHABLE")

    def test_what_came_before_a_cut_does_not_come_again(self):
        manifest, other = self.manifest(self.files), Store(self.other)
        other.make()
        for data in self.files.values():
            (other.parts / hashlib.sha256(data).hexdigest()).write_bytes(data[:200_000])
        source, _thread, _manifest = self.giving(200_000)
        self.assertEqual(self.fetch(source, manifest, 200_000), {"bytes": 100_000, "evicted": []})
        self.assertEqual((other.version(self.digest) / "tree/a").read_bytes(), self.files["a"])
        self.assertEqual(list(other.begun()), [])
        with self.assertRaisesRegex(NodeError, "another content"):
            contents = [[hashlib.sha256(b"2" * 10).hexdigest(), False, 11]]
            between.give({"digest": self.digest, "contents": contents}, Opened(self.root))

    def test_who_does_not_know_the_secret_gets_nothing_and_other_paths_are_none(self):
        source, _thread, manifest = self.giving()
        base = f"http://127.0.0.1:{source['port']}"
        for path, secret in (("/contents", ""), ("/contents", "x" * 32), ("/../../etc/passwd", source["secret"])):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(
                    urllib.request.Request(base + path, headers={"Authorization": f"Bearer {secret}"}), timeout=10
                )
            self.assertIn(caught.exception.code, (401, 404))
        self.assertEqual(self.fetch(source, manifest)["bytes"], 300_010)

    def test_a_content_that_is_damaged_there_is_not_taken(self):
        blob = self.store.blob(hashlib.sha256(self.files["a"]).hexdigest(), False)
        os.chmod(blob, 0o644)
        blob.write_bytes(b"3" * 300_000)
        source, _thread, manifest = self.giving()
        with self.assertRaises(NodeError) as caught:
            self.fetch(source, manifest)
        self.assertEqual(caught.exception.code, "CONFLICT")
        self.assertEqual(Store(self.other).whole(), [])

    def test_one_that_ends_too_early_or_listens_to_nobody_is_told_as_lost(self):
        manifest = self.manifest(self.files)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()

            def answer():
                connection, _address = listener.accept()
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 300010\r\n\r\n111")
                connection.close()

            threading.Thread(target=answer, daemon=True).start()
            source = {"address": "127.0.0.1", "port": listener.getsockname()[1], "secret": "s"}
            with self.assertRaises(NodeError):
                self.fetch(source, manifest)
        with self.assertRaises(NodeError) as caught:
            self.fetch(source, manifest)
        self.assertEqual(caught.exception.code, "NODE_UNREACHABLE")
        self.assertEqual(Store(self.other).whole(), [])

    def test_only_contents_of_the_version_are_given(self):
        with self.assertRaisesRegex(NodeError, "another content"):
            between.give({"digest": self.digest, "contents": [["0" * 64, False, 0]]}, Opened(self.root))

    def test_a_hostile_manifest_is_refused_before_anything_of_it_is_made(self):
        content = hashlib.sha256(b"x").hexdigest()
        outside = self.root / "outside"
        for paths in (
            ["../outside"],
            ["a/../../outside"],
            ["/etc/x"],
            ["a//b"],
            ["./a"],
            [""],
            ["a\0b"],
            ["a", "a"],
            ["a", "a/b"],
            [".."],
        ):
            lines = [[path, False, 1, content] for path in paths]
            manifest = {"name": "set", "digest": digest_of(lines), "at": 1.0, "source": "x", "bytes": 1, "files": lines}
            with self.assertRaises(NodeError, msg=paths):
                verbs.receive(
                    {"manifest": manifest, "send": [[content, False, 1, 0]], "limit": None}, self.channel(b"x")
                )
        for digest in ("../../../../outside", "0" * 63, "0" * 64 + "\n", "A" * 64):
            with self.assertRaises(NodeError, msg=digest):
                lines = [["a", False, 1, digest]]
                verbs.receive(
                    {
                        "manifest": {
                            "name": "set",
                            "digest": digest_of(lines),
                            "at": 1.0,
                            "source": "x",
                            "bytes": 1,
                            "files": lines,
                        },
                        "send": [[digest, False, 1, 0]],
                        "limit": None,
                    },
                    self.channel(b"x"),
                )
        self.assertFalse(outside.exists())
        self.assertEqual([one["digest"] for one in self.store.whole()], [self.digest])
        names = {"new\nline": b"x", "tab\there": b"y", "-rf": b"z", "ü" * 100: b"u"}
        digest, _answer = self.push(names)
        self.assertEqual((self.store.version(digest) / "tree/new\nline").read_bytes(), b"x")

    def test_links_in_the_place_of_what_is_ours_are_not_written_through(self):
        victim = self.root / "victim"
        victim.write_text("mine")
        part = self.store.parts / hashlib.sha256(b"evil").hexdigest()
        os.symlink(victim, part)
        with self.assertRaises(OSError):
            self.push({"new": b"evil"})
        self.assertEqual(victim.read_text(), "mine")
        self.assertFalse(os.path.lexists(part))

"""Versions of data sets, made here and given to a node as a caller would."""

import hashlib
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.data import verbs
from flexrack_node.data.store import Store, digest_of
from messages import check_files


class DataCase(unittest.TestCase):
    def setUp(self):
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="flexrack-data-")))
        self.store = Store(self.root)

    def tearDown(self):
        shutil.rmtree(self.root / "runs", ignore_errors=True)  # of a run there is no more than a test needs
        check_files(self.root)
        for path, _folders, _files in os.walk(self.root):
            os.chmod(path, 0o700)
        shutil.rmtree(self.root)

    def channel(self, body=b""):
        return Channel(self.root, self.root / "environments", io.BufferedReader(io.BytesIO(body)))

    def manifest(self, files, name="set"):
        """{path: bytes} -> a version."""
        lines = [[path, False, len(data), hashlib.sha256(data).hexdigest()] for path, data in files.items()]
        return {
            "name": name,
            "digest": digest_of(lines),
            "at": 1.0,
            "source": "here:/x",
            "bytes": sum(len(data) for data in files.values()),
            "files": lines,
        }

    def push(self, files, limit=None, spoil=lambda body: body):
        """Returns the version's digest, and what data.receive answered."""
        manifest = self.manifest(files)
        lacking = {digest: here for digest, _executable, here in verbs.missing(manifest, self.channel())["missing"]}
        contents = {hashlib.sha256(data).hexdigest(): data for data in files.values()}
        sent = [one for one in contents if one in lacking]
        order = {
            "manifest": manifest,
            "send": [[one, False, len(contents[one]), lacking[one]] for one in sent],
            "limit": limit,
        }
        return manifest["digest"], verbs.receive(
            order, self.channel(spoil(b"".join(contents[one][lacking[one] :] for one in sent)))
        )

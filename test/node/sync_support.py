"""A node's folder for the sync verbs, and a caller that does what src/lib/workspace does."""

import hashlib
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.workspace import sync
from flexrack_node.workspace.tree import DIGEST_DIGITS
from messages import check_files


def digest(data):
    return hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]


class SyncCase(unittest.TestCase):
    """The verbs on real folders. A project is a dict: bytes are a file, text is a link, None an empty folder."""

    def setUp(self):
        self.folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="flexrack-sync-")))
        self.root = self.folder / "root"
        self.root.mkdir()
        self.place = self.root / "workspaces" / "p"
        self.code = self.place / "code"

    def tearDown(self):
        if self.root.exists():
            check_files(self.root)
        shutil.rmtree(self.folder)

    def channel(self, body=b""):
        return Channel(self.root, self.root / "environments", io.BufferedReader(io.BytesIO(body)))

    def entries(self, project):
        return {
            path: ["f", digest(what), False]
            if isinstance(what, bytes)
            else ["d", "", False]
            if what is None
            else ["l", what, False]
            for path, what in project.items()
        }

    def tree(self, project):
        return digest(repr(sorted(self.entries(project).items())).encode())

    def prepare(self, project):
        """The request that a caller would make, and the body."""
        entries, tree = self.entries(project), self.tree(project)
        compared = sync.compare({"project": "p", "tree": tree}, self.channel())
        if compared["same"]:
            return None, b""
        there = {path: entry for path, *entry in compared["inventory"]}
        # also where the project has the same by now: sync is to know it as its own again
        edited = {path for path, *_ in compared.get("edited") or []}
        put = [[path, *entry] for path, entry in entries.items() if there.get(path) != entry or path in edited]
        contents = {
            entry[0]: project[path]
            for path, *rest in put
            for entry in [[rest[1]]]
            if rest[0] == "f" and rest[1] not in compared["staged"]
        }
        request = {
            "project": "p",
            "tree": tree,
            "revision": compared["revision"],
            "put": put,
            "forget": [],
            "owner": "ada@laptop",
            "remove": [path for path in there if path not in entries],
            "send": [[name, len(data)] for name, data in contents.items()],
        }
        return request, b"".join(contents.values())

    def up(self, project, overwrite=False):
        """True if there was something to do."""
        request, body = self.prepare(project)
        if request:
            sync.apply({**request, **({"overwrite": True} if overwrite else {})}, self.channel(body))
        return request is not None

    def shown(self):
        """What is in the code folder, as a project."""
        found = {}
        for path, folders, files in os.walk(self.code):
            for name in [*folders, *files]:
                full = Path(path, name)
                key = str(full.relative_to(self.code))
                if full.is_symlink():
                    found[key] = os.readlink(full)
                elif full.is_file():
                    found[key] = full.read_bytes()
                elif not any(full.iterdir()):
                    found[key] = None
        return found

"""The code of a model server of the project's own."""

import io
import shutil
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import served


class ServedTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-served-"))
        self.addCleanup(shutil.rmtree, self.root)

    def channel(self) -> Channel:
        return Channel(self.root, self.root / "environments", io.BytesIO(b""))

    def test_code_of_a_workspace_is_kept_as_it_was(self):
        with self.assertRaises(NodeError) as caught:
            served.code({"name": "digits", "release": "r1", "workspace": "digits"}, self.channel())
        self.assertEqual(caught.exception.code, "NOT_FOUND")
        workspace = self.root / "workspaces" / "digits" / "code"
        workspace.mkdir(parents=True)
        (workspace / "serve.py").write_text("before")
        given = {"name": "digits", "release": "r1", "workspace": "digits"}
        kept = Path(served.code(given, self.channel())["folder"])
        (workspace / "serve.py").write_text("after")
        self.assertEqual((kept / "serve.py").read_text(), "before")
        for environment in (self.root / "environments" / ("0" * 16), Path("/etc")):  # not there, not ours
            with self.assertRaises(NodeError) as caught:
                served.code({**given, "environment": str(environment)}, self.channel())
            self.assertEqual(caught.exception.code, "NOT_FOUND")

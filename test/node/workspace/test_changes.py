"""What a workspace has that its project does not, on real folders."""

import base64
import os
import sys
import unittest
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import changes
from sync_support import SyncCase, digest


class ChangesTest(SyncCase):
    def changes(self, *paths):
        return changes.changes({"project": "p", "paths": list(paths)}, self.channel())

    def test_names_what_was_edited_removed_and_made_here(self):
        self.up({"a.py": b"1", "b.py": b"1", "same": b"1", "sub/c.py": b"1"})
        (self.code / "a.py").write_bytes(b"edited")
        (self.code / "b.py").unlink()
        (self.code / "sub/new.ipynb").write_bytes(b"{}")
        (self.code / "__pycache__").mkdir()
        (self.code / "__pycache__/a.pyc").write_bytes(b"x")
        os.symlink("a.py", self.code / "link")
        found = self.changes()
        self.assertEqual(
            found["edited"],
            [["a.py", "f", digest(b"edited"), False, digest(b"1")], ["b.py", "", "", False, digest(b"1")]],
        )
        self.assertEqual(found["own"], [["sub/new.ipynb", 2, False]])
        self.assertEqual(found["many"], [])

    def test_a_folder_with_very_many_files_is_told_of_as_one_unless_it_is_named(self):
        self.up({"a.py": b"1"})
        (self.code / "data/deep").mkdir(parents=True)
        for number in range(5):
            (self.code / f"data/deep/{number}").write_bytes(b"")
        with mock.patch.object(changes, "MANY", 4):
            found = self.changes()
            self.assertEqual((found["own"], found["many"]), ([], [["data", 5]]))
            self.assertEqual(len(self.changes("data/deep")["own"]), 5)

    def test_contents_come_in_pieces_with_their_digest_and_never_through_a_link(self):
        self.up({"a.py": b"1"})
        big = os.urandom(changes.CHUNK + 5)
        (self.code / "big").write_bytes(big)
        os.symlink("/etc/hostname", self.code / "link")
        os.symlink("/etc", self.code / "folder")
        seen = []
        channel = self.channel()
        channel.event = lambda kind, **fields: seen.append((kind, fields))
        sent = changes.contents({"project": "p", "paths": ["big", "link", "folder/hostname", "absent"]}, channel)
        self.assertEqual(sent, {"files": {"big": digest(big), "link": None, "folder/hostname": None, "absent": None}})
        self.assertEqual([fields["path"] for _kind, fields in seen], ["big", "big"])
        self.assertEqual(b"".join(base64.b64decode(fields["data"]) for _kind, fields in seen), big)

    def test_a_project_that_is_not_here_is_said_to_be_so(self):
        with self.assertRaises(NodeError) as caught:
            self.changes()
        self.assertEqual(caught.exception.code, "NOT_FOUND")


if __name__ == "__main__":
    sys.exit(unittest.main())

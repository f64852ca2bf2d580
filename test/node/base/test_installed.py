import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node import installer
from flexrack_node.base import file_schemas, installed


class InstalledTest(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.root = Path(self.temp.name) / "root"

    def tearDown(self):
        self.temp.cleanup()

    def make(self, name, kind="run"):
        installed.record(self.root, self.root / name, kind)
        (self.root / name).mkdir(parents=True)
        (self.root / name / "file").write_text("x")

    def test_records_each_path_once_and_lists_what_still_exists(self):
        self.make("runs/a")
        installed.record(self.root, self.root / "runs/a", "run")
        installed.record(self.root, self.root / "runs/never-made", "run")
        self.assertEqual(
            [(entry["path"], entry["kind"]) for entry in installed.listing(self.root)], [("runs/a", "run")]
        )
        self.assertEqual(len((self.root / "installed.jsonl").read_text().splitlines()), 2)
        self.assertEqual((self.root / "installed.jsonl").stat().st_mode & 0o777, 0o600)

    def test_a_torn_line_loses_nothing_else(self):
        self.make("runs/a")
        with open(self.root / "installed.jsonl", "ab") as file:
            file.write(b'{"path": "runs/to')
        self.make("runs/b")
        self.assertEqual([entry["path"] for entry in installed.listing(self.root)], ["runs/a", "runs/b"])

    def test_removes_exactly_what_is_recorded(self):
        self.make("runs/a")
        (self.root / "runs/mine").mkdir()
        for entry in installed.listing(self.root):
            self.assertTrue(installed.remove(self.root, entry))
        self.assertEqual(os.listdir(self.root / "runs"), ["mine"])
        (self.root / "runs/mine").rmdir()
        self.assertTrue(installed.forget_all(self.root))
        self.assertFalse(self.root.exists())

    def test_touches_nothing_outside_root(self):
        outside = Path(self.temp.name) / "outside"
        outside.mkdir()
        (outside / "file").write_text("x")
        self.root.mkdir()
        (self.root / "link").symlink_to(outside)
        for path in (str(outside), "../outside", "link/file", ".", ""):
            self.assertFalse(installed.remove(self.root, {"path": path, "kind": "run"}), path)
        self.assertTrue((outside / "file").exists())
        self.assertTrue(installed.remove(self.root, {"path": "link", "kind": "run"}))
        self.assertTrue((outside / "file").exists())

    def test_arrival_records_in_the_same_form(self):
        order = {
            "root": str(self.root),
            "hash": "abc",
            "python": sys.executable,
            "files": {"a.py": "1", "sub/b.py": "2", "base/file_schemas.py": Path(file_schemas.__file__).read_text()},
        }
        self.assertTrue(installer.place(self.root, order))
        self.assertFalse(installer.place(self.root, order))
        self.assertEqual([entry["path"] for entry in installed.listing(self.root)], ["program/abc"])
        self.assertEqual(sorted(os.listdir(self.root / "program")), ["abc"])
        self.assertEqual((self.root / "program/abc/python").read_text(), sys.executable + "\n")
        line = json.loads((self.root / "installed.jsonl").read_text())
        self.assertEqual((line["kind"], line["schema"]), ("program", file_schemas.SCHEMAS["installed.entry"]))

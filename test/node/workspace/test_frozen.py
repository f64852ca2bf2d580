"""A run's view of its code, on real folders: nothing that happens to the workspace later reaches it, and it is what the
digest says.
"""

import hashlib
import os
import sys
import unittest
from pathlib import Path

from flexrack_node.workspace import frozen
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.index import load_index
from sync_support import SyncCase


class FrozenTest(SyncCase):
    PROJECT = {"train.py": b"one", "pkg/model.py": b"m", "pkg/empty": None, "latest": "pkg/model.py"}

    def view(self, name="run", outputs=()):
        target = self.folder / name / "code"
        target.parent.mkdir(parents=True, exist_ok=True)
        view = frozen.View(self.code, target, load_index(WorkspaceFolder(self.root, "p")), outputs)
        view.make()
        return target, view.digest()

    def test_neither_a_sync_nor_an_edit_in_place_reaches_it(self):
        self.up(self.PROJECT)
        (self.code / "notes.py").write_text("made here")
        target, digest = self.view()
        self.up({**self.PROJECT, "train.py": b"two", "pkg/model.py": b"n"})
        with open(self.code / "notes.py", "r+") as stream:  # in place, as some editors do
            stream.write("MADE")
        self.assertEqual((target / "train.py").read_bytes(), b"one")
        self.assertEqual((target / "pkg/model.py").read_bytes(), b"m")
        self.assertEqual((target / "notes.py").read_text(), "made here")
        self.assertTrue((target / "pkg/empty").is_dir())
        self.assertEqual(os.readlink(target / "latest"), "pkg/model.py")
        self.assertNotEqual(self.view("next")[1], digest)

    def test_what_ranks_write_in_it_stays_in_it(self):
        self.up(self.PROJECT)
        target, _digest = self.view()
        with open(target / "train.py", "a") as stream:
            stream.write(" more")
        self.assertEqual((self.code / "train.py").read_bytes(), b"one")

    def test_the_digest_is_that_of_paths_modes_and_contents(self):
        self.up(self.PROJECT)
        lines = ["latest\0link\0pkg/model.py\n"]
        for path, content in (("train.py", b"one"), ("pkg/model.py", b"m")):
            lines.append(f"{path}\0file\0{hashlib.sha256(content).hexdigest()[:32]}\n")
        first = self.view()[1]
        self.assertEqual(first, hashlib.sha256("".join(sorted(lines)).encode()).hexdigest())
        os.chmod(self.code / "train.py", 0o700)
        second = self.view("b")[1]
        os.chmod(self.code / "train.py", 0o600)
        (self.code / "train.py").write_bytes(b"ONE")  # on the node: the index says nothing of it
        self.assertEqual(len({first, second, self.view("c")[1]}), 3)

    def test_data_of_the_node_is_shared_and_outputs_are_not(self):
        self.up(self.PROJECT)
        for name in ("data", "checkpoints", "pkg/__pycache__"):
            (self.code / name).mkdir()
            (self.code / name / "x").write_text(name)
        os.truncate(os.open(self.code / "weights.bin", os.O_CREAT | os.O_RDWR), frozen.LARGE + 1)
        target, digest = self.view(outputs=["checkpoints/*.pt"])
        self.assertEqual(os.readlink(target / "data"), str(self.code / "data"))
        self.assertEqual(os.readlink(target / "weights.bin"), str(self.code / "weights.bin"))
        self.assertFalse(os.path.lexists(target / "checkpoints"))
        self.assertFalse(os.path.lexists(target / "pkg/__pycache__"))
        (self.code / "data/x").write_text("other")
        self.assertEqual(self.view("b", ["checkpoints/*.pt"])[1], digest)

    def test_a_large_file_of_the_project_costs_no_copy_where_nothing_can_be_cloned(self):
        big = b"x" * (frozen.LARGE + 1)
        self.up({"train.py": b"one", "big.bin": big})
        target = self.folder / "run" / "code"
        target.parent.mkdir()
        view = frozen.View(self.code, target, load_index(WorkspaceFolder(self.root, "p")))
        view.can_clone = False
        view.make()
        self.assertTrue(os.path.samefile(target / "big.bin", self.code / "big.bin"))
        self.assertFalse(os.path.samefile(target / "train.py", self.code / "train.py"))
        self.up({"train.py": b"one", "big.bin": b"small"})  # by rename: the view keeps what it had
        self.assertEqual((target / "big.bin").read_bytes(), big)

    def test_a_link_out_of_the_folder_leads_where_it_led(self):
        self.up(self.PROJECT)
        os.symlink("../../../elsewhere", self.code / "out")
        target, _digest = self.view()
        self.assertEqual(os.readlink(target / "out"), os.path.normpath(self.code / "../../../elsewhere"))

    def test_an_editable_project_is_imported_from_the_view(self):
        self.up(self.PROJECT)
        site = self.folder / "env/lib/python3.11/site-packages"
        site.mkdir(parents=True)
        (site / "__editable__.a.pth").write_text(f"{self.code}/src\n")
        (site / "__editable___b_finder.py").write_text(f"MAPPING = {{'b': '{self.code}/pkg/b'}}\n")
        (site / "other.pth").write_text("/somewhere/else\nimport os\n")
        found = frozen.editable_paths(self.folder / "env/bin/python", self.code, Path("/view"))
        self.assertEqual(sorted(found), ["/view/pkg", "/view/src"])

    def test_a_start_cut_short_is_begun_anew(self):
        self.up(self.PROJECT)
        target, digest = self.view()
        (target / "left.over").write_text("x")
        self.assertEqual(self.view()[1], digest)
        self.assertFalse((target / "left.over").exists())


if __name__ == "__main__":
    sys.exit(unittest.main())

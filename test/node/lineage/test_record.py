"""The record of a run and the pack of its code, on real folders."""

import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.stored import read, write
from flexrack_node.lineage import pack as packing
from flexrack_node.lineage.record import complete, first_record, seeds
from flexrack_node.run.files import RunFolder
from flexrack_node.workspace import frozen
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.index import load_index
from sync_support import SyncCase

SPEC = {
    "run": "r",
    "project": "p",
    "node": "a",
    "index": 0,
    "nodes": ["a", "b"],
    "launcher": "plain",
    "processes": 1,
    "command": ["train.py", "--seed", "3"],
    "created": 1.0,
    "owner": "ada",
    "env": {"TOKEN": "secret-value", "PYTHONHASHSEED": "7"},
    "environment": "e",
    "commit": None,
    "tracking": None,
}
RESULT = {
    "status": "finished",
    "cause": None,
    "exit": 0,
    "started": 1.0,
    "ended": 2.0,
    "duration": 1.0,
    "recorded": True,
    "outputs": ["model.bin"],
    "attempts": [{"attempt": 1, "status": "finished", "nodes": ["a"]}],
}


class PackTest(SyncCase):
    PROJECT = {"train.py": b"one", "pkg/model.py": b"m", "latest": "pkg/model.py"}

    def packed(self, name="run"):
        target = self.folder / name
        target.mkdir(parents=True)
        view = frozen.View(self.code, target / "code", load_index(WorkspaceFolder(self.root, "p")))
        view.make()
        return target, view.tree()

    def test_the_same_code_gives_the_same_bytes_everywhere(self):
        self.up(self.PROJECT)
        found = []
        for name in ("one", "two"):
            target, tree = self.packed(name)
            os.utime(target / "code/train.py", (1, len(name)))
            found.append(packing.pack(target / "code", tree, target / "code.tar.gz"))
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0][1], [])
        with tarfile.open(target / "code.tar.gz") as tar:
            self.assertEqual(sorted(tar.getnames()), sorted(self.PROJECT))
            self.assertEqual(tar.extractfile("train.py").read(), b"one")
            self.assertEqual(tar.getmember("latest").linkname, "pkg/model.py")

    def test_what_was_changed_since_is_too_large_or_has_gone_is_named_and_left_out(self):
        self.up({**self.PROJECT, "gone.py": b"x", "big.bin": b"0" * (packing.MOST_OF_A_FILE + 1)})
        target, tree = self.packed()
        (target / "code/train.py").write_bytes(b"two")
        (target / "code/gone.py").unlink()
        found, left_out = packing.pack(target / "code", tree, target / "code.tar.gz")
        self.assertEqual([path for path, _why in left_out], ["big.bin", "gone.py", "train.py"])
        self.assertEqual(found["files"], 2)

    def test_a_link_in_place_of_a_file_is_not_followed(self):
        self.up(self.PROJECT)
        target, tree = self.packed()
        (self.folder / "secret").write_text("one")
        (target / "code/train.py").unlink()
        (target / "code/train.py").symlink_to(self.folder / "secret")
        _found, left_out = packing.pack(target / "code", tree, target / "code.tar.gz")
        self.assertEqual([path for path, _why in left_out], ["train.py"])


class RecordTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = RunFolder(Path(place.name) / "r")
        (self.folder.path / "code").mkdir(parents=True)
        site = Path(place.name) / "env/lib/python3.11/site-packages/torch-2.0.dist-info"
        site.mkdir(parents=True)
        (Path(place.name) / "env/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        (self.folder.path / "code/train.py").write_text("one")
        tree = {"entries": [["train.py", "file", hashlib.sha256(b"one").hexdigest()[:32]]]}
        write("run.tree", self.folder.path / "tree.json", tree)
        code = {"workspace": "p", "digest": "d", "files": 1, "bytes": 3}
        self.spec = {**SPEC, "python": f"{place.name}/env/bin/python", "code": code}

    def test_it_says_what_the_run_is_made_of_and_no_values_of_variables(self):
        record = first_record(self.folder, self.spec)
        self.assertEqual(record["env"], ["PYTHONHASHSEED", "TOKEN"])
        self.assertNotIn("secret-value", json.dumps(record))
        self.assertEqual(record["seeds"], {"seed": "3", "PYTHONHASHSEED": "7"})
        lock = (self.folder.path / "environment.txt").read_bytes()
        self.assertEqual(lock, b"torch==2.0\n")
        self.assertEqual(record["environment"]["lock"], hashlib.sha256(lock).hexdigest())
        self.assertEqual(record["environment"]["python"], "3.11.2")
        pack = (self.folder.path / "code.tar.gz").read_bytes()
        self.assertEqual(record["code"]["pack"]["sha256"], hashlib.sha256(pack).hexdigest())
        self.assertEqual(tarfile.open(fileobj=io.BytesIO(gzip.decompress(pack))).getnames(), ["train.py"])

    def test_its_end_is_put_into_what_was_written_before_it_began(self):
        self.folder.write("record", first_record(self.folder, self.spec))
        (self.folder.path / "code/train.py").write_text("changed by a rank")
        self.folder.outputs.mkdir()
        (self.folder.outputs / "model.bin").write_bytes(b"model")
        member = {**first_record(self.folder, self.spec)["nodes"][0], "node": "b"}
        complete(self.folder, self.spec, RESULT, [member])
        record = read("run.record", self.folder.path / "record.json")
        self.assertEqual(record["status"], "finished")
        self.assertEqual([one["node"] for one in record["nodes"]], ["a", "b"])
        self.assertEqual(
            record["outputs"], [{"path": "model.bin", "sha256": hashlib.sha256(b"model").hexdigest(), "bytes": 5}]
        )
        self.assertEqual(record["code"]["left_out"], [])

    def test_an_environment_that_has_gone_is_not_made_up(self):
        self.assertIsNone(first_record(self.folder, {**self.spec, "python": "/nowhere/bin/python"})["environment"])

    def test_what_is_called_a_seed_and_is_a_number(self):
        self.assertEqual(
            seeds(["--data-seed=4", "seed=5", "--seed", "no", "seedling=6"], {}), {"data-seed": "4", "seed": "5"}
        )


if __name__ == "__main__":
    unittest.main()

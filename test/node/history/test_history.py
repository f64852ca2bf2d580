"""What a workspace was before, with a real restic on real folders. Whole, over SSH: test/integration/history.test.ts."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import write
from flexrack_node.history import control, of_run, restic, retention, verbs
from flexrack_node.history.choice import Choice, exclusions
from flexrack_node.history.keeper import Keeper
from flexrack_node.workspace import frozen
from flexrack_node.workspace.folder import WorkspaceFolder
from history_support import HistoryCase, picture, restic_of_tests

PROJECT = {
    "train.py": b"one\n",
    "pkg/model.py": b"m\n",
    ".gitignore": b"*.log\nlogs/\n!keep.log\n",
    "latest": "pkg/model.py",
}


class SavingTest(HistoryCase):
    def test_what_was_deleted_comes_back_as_it_was(self):
        self.up(PROJECT)
        self.on()
        odd = ["new\nline", "-x", "o[d]d *?$HOME\\", "trail ", " lead", "sub/ü", "quote'\"", "tab\there"]
        (self.code / "sub").mkdir(mode=0o750)
        for name in odd:
            (self.code / name).write_text(name)
        (self.code / "sub" / "run").write_text("#!/bin/sh\n")
        os.chmod(self.code / "sub" / "run", 0o751)
        os.utime(self.code / "sub" / "run", ns=(1, 1_234_567_890_123_456_789))
        with open(os.fsencode(self.code) + b"/bad\xff", "w") as stream:
            stream.write("x")
        os.symlink("/etc/passwd", self.code / "out")
        os.symlink("nowhere", self.code / "broken")
        (self.code / "empty").mkdir()
        before = picture(self.code)
        saved = self.save()
        self.assertTrue(saved["made"])
        self.assertEqual(saved["unreadable"], [])
        self.assertEqual(self.save(), {**saved, "made": False, "added": 0})
        for name in odd:
            (self.code / name).unlink()
        shutil.rmtree(self.code / "pkg")
        (self.code / "train.py").write_text("two\n")
        restored = self.restore()
        self.assertEqual(picture(restored["folder"]), before)
        self.assertEqual((self.code / "train.py").read_text(), "two\n")
        over = self.restore(in_place=True)
        self.assertEqual(picture(self.code), before)
        self.assertEqual(
            {one["path"]: one["what"] for one in over["files"] if one["path"] in ("train.py", "pkg/model.py")},
            {"train.py": "replaced", "pkg/model.py": "made"},
        )
        undone = self.restore(in_place=True, snapshot=over["before"], remove=True)
        self.assertEqual((self.code / "train.py").read_text(), "two\n")
        self.assertFalse((self.code / "new\nline").exists())
        self.assertGreater(undone["count"], 1)
        # Saved since it went: the last snapshot has it no more, and who asks for it gets the one that has.
        self.save()
        (self.code / "train.py").unlink()
        self.save()
        self.restore(in_place=True, path="train.py")
        self.assertEqual((self.code / "train.py").read_text(), "two\n")
        self.check()

    def test_what_is_left_out_is_told_and_only_that(self):
        self.up({**PROJECT, "logs/kept.txt": b"x"})
        self.on(exclude=["/*.bin", "sub dir/"], largest=1000)
        for name in ("a.log", "keep.log", "x.bin", "notes.ipynb", "logs/more.txt"):
            (self.code / name).write_text(name)
        (self.code / "large").write_bytes(b"x" * 1001)
        (self.code / "sub dir").mkdir()
        (self.code / "sub dir" / "y").write_text("y")
        (self.code / ".venv").mkdir()
        (self.code / "data").mkdir()
        for number in range(1001):
            (self.code / "data" / str(number)).touch()
        os.mkfifo(self.code / "pipe")
        choice = Choice(WorkspaceFolder(self.root, "p"), ["/*.bin", "sub dir/"], 1000)
        self.assertEqual(
            sorted(choice.files),
            [".gitignore", "keep.log", "latest", "logs/kept.txt", "notes.ipynb", "pkg/model.py", "train.py"],
        )
        self.assertEqual(
            sorted((one.path, one.why) for one in choice.left),
            [
                (".venv", "program"),
                ("a.log", "excluded"),
                ("data", "many"),
                ("large", "large"),
                ("logs/more.txt", "excluded"),
                ("sub dir", "excluded"),
                ("x.bin", "excluded"),
            ],
        )
        self.save()
        inside = sorted(
            path
            for path, (mode, _time, _what) in picture(self.restore()["folder"]).items()
            if not stat.S_ISDIR(mode) and not stat.S_ISFIFO(mode)
        )
        self.assertEqual(inside, sorted(choice.files))
        self.assertIn(b"[\x01-\x1f]", exclusions(self.code, [choice.left[0]._replace(path="a\nb")]))

    def test_versions_of_a_file_and_what_has_changed_since(self):
        self.up(PROJECT)
        self.on()
        first = self.save()["snapshot"]
        (self.code / "train.py").write_text("one\nand more\n")
        (self.code / "notes.py").write_text("n\n")
        os.utime(self.code / "pkg/model.py")  # touched: the same
        diffed = verbs.diff({"project": "p", "snapshot": first[:8], "text": True}, self.channel())
        self.assertEqual(
            [(one["path"], one["what"]) for one in diffed["changes"]], [("notes.py", "made"), ("train.py", "changed")]
        )
        self.assertIn("+and more\n", diffed["changes"][1]["lines"])
        self.save()
        (self.code / "train.py").unlink()
        self.save()
        found = verbs.listing({"project": "p", "path": "train.py"}, self.channel())
        self.assertEqual(
            [(one["what"], one["bytes"]) for one in found["versions"]], [("file", 4), ("file", 13), ("absent", None)]
        )
        self.assertEqual(len(found["snapshots"]), 3)
        at = found["versions"][1]["at"]
        folder = Path(self.restore(at=at + 0.001, path="train.py")["folder"])
        self.assertEqual((folder / "train.py").read_text(), "one\nand more\n")
        self.assertEqual(os.listdir(folder), ["train.py"])
        for more, code in (
            ({"path": "none"}, "NOT_FOUND"),
            ({"snapshot": "0" * 8}, "NOT_FOUND"),
            ({"at": 5.0}, "NOT_FOUND"),
            ({"run": "r"}, "NOT_FOUND"),
        ):
            with self.assertRaises(NodeError) as caught:
                self.restore(**more)
            self.assertEqual(caught.exception.code, code)


class InPlaceTest(HistoryCase):
    def test_a_restore_follows_no_link_and_overwrites_nothing_that_is_not_saved(self):
        self.up({"sub/a": b"old", "b": b"old"})
        self.on(largest=100)
        self.save()
        outside = self.folder / "outside"
        outside.mkdir()
        shutil.rmtree(self.code / "sub")
        os.symlink(outside, self.code / "sub")
        with self.assertRaises(NodeError) as caught:
            self.restore(in_place=True)
        self.assertEqual(caught.exception.code, "CONFLICT")
        self.assertEqual(os.listdir(outside), [])
        (self.code / "sub").unlink()
        (self.code / "b").write_bytes(b"x" * 300)  # grown: not saved
        with self.assertRaises(NodeError) as caught:
            self.restore(in_place=True)
        self.assertIn("not saved", caught.exception.message)
        self.assertFalse((self.code / "sub").exists())
        self.assertEqual(
            self.restore(in_place=True, path="sub")["files"], [{"path": "sub/a", "what": "made", "bytes": 3}]
        )
        self.assertEqual([one for one in os.listdir(self.place) if one.startswith(".restoring")], [])

    def test_dry_run_changes_nothing(self):
        self.up(PROJECT)
        self.on()
        self.save()
        (self.code / "train.py").write_text("two\n")
        before = picture(self.code)
        self.assertEqual([one["path"] for one in self.restore(in_place=True, dry_run=True)["files"]], ["train.py"])
        self.assertEqual(self.restore(dry_run=True)["count"], 4)
        self.assertEqual(picture(self.code), before)
        self.assertFalse(self.history.restored.exists())
        self.assertEqual(len(verbs.listing({"project": "p"}, self.channel())["snapshots"]), 1)


class RunTest(HistoryCase):
    def start(self, run):
        path = self.root / "runs" / run
        path.mkdir(parents=True)
        order = {
            "run": run,
            "project": "p",
            "node": "n",
            "index": 0,
            "nodes": ["n"],
            "launcher": "plain",
            "processes": 1,
            "command": ["x"],
            "python": "/none/bin/python",
            "environment": None,
            "cwd": "/",
            "env": {},
            "restarts": 0,
            "grace": 1,
            "outputs": [],
            "gang": {"secret": "s"},
            "commit": None,
            "created": 1.0,
            "tracking": None,
            "owner": "ada",
            "code": {"workspace": "p"},
        }
        spec = of_run.with_snapshot(frozen.frozen(order, path, self.channel()), path, self.channel())
        write("run.spec", path / "spec.json", spec)
        return spec["code"]

    def test_a_run_names_the_snapshot_of_exactly_what_it_ran(self):
        self.up(PROJECT)
        self.assertNotIn("snapshot", self.start("off"))
        self.on()
        (self.code / "notes.py").write_text("made here")
        (self.code / "data").mkdir()
        (self.code / "data/x").write_text("x")
        one, again = self.start("r1"), self.start("r2")
        self.assertEqual(one["snapshot"], again["snapshot"])
        view = picture(self.root / "runs/r1/code")
        (self.root / "runs/r1/code/train.py").write_text("a rank writes")
        (self.code / "train.py").write_text("two\n")
        self.assertNotEqual(self.start("r3")["snapshot"], one["snapshot"])
        restored = Path(self.restore(run="r1")["folder"])
        self.assertEqual(picture(restored), view)
        self.assertEqual(os.readlink(restored / "data"), str(self.code / "data"))
        over = self.restore(run="r1", in_place=True, remove=True)
        self.assertEqual([(one["path"], one["what"]) for one in over["files"]], [("train.py", "replaced")])
        self.assertEqual((self.code / "data/x").read_text(), "x")
        listed = {
            tuple(one["runs"])
            for one in verbs.listing({"project": "p"}, self.channel())["snapshots"]
            if one["kind"] == "run"
        }
        self.assertEqual(listed, {("r1", "r2"), ("r3",)})

    def test_snapshots_of_runs_stay_as_long_as_the_runs_do(self):
        self.up(PROJECT)
        self.on()
        snapshot = self.start("r1")["snapshot"]
        self.save()
        for gone, left in ((False, 2), (True, 1)):
            if gone:
                shutil.rmtree(self.root / "runs/r1")
            retention.tidy(self.history, restic.Restic(self.history), time.time() + 7200)
            self.assertEqual(len(verbs.listing({"project": "p"}, self.channel())["snapshots"]), left)
        self.assertFalse(self.history.has_snapshot(snapshot))
        self.assertEqual(self.history.codes(), {})
        self.check()

    def test_a_run_starts_also_where_nothing_can_be_saved(self):
        self.up(PROJECT)
        self.on()
        self.save()
        self.history.key.unlink()
        self.assertIn("key", self.start("r1")["unsaved"])


class TroubleTest(HistoryCase):
    def test_a_lost_key_a_damaged_repository_and_a_beginning_anew(self):
        self.up(PROJECT)
        self.on()
        self.save()
        key = self.history.key.read_text()
        self.assertEqual(stat.S_IMODE(self.history.key.stat().st_mode), 0o600)
        self.history.key.unlink()
        (self.code / "train.py").write_text("two\n")
        with self.assertRaises(NodeError) as caught:
            self.save()
        self.assertEqual(caught.exception.code, "CONFLICT")
        self.assertFalse(self.history.key.exists())
        self.history.key.write_text("another")
        for call in (self.save, self.restore):
            with self.assertRaises(NodeError) as caught:
                call()
            self.assertEqual((caught.exception.code, "does not open" in caught.exception.message), ("CONFLICT", True))
        self.history.key.write_text(key)
        self.save()
        for file in (self.history.repository / "index").iterdir():
            file.chmod(0o600)
            file.write_bytes(b"\0" * file.stat().st_size)
        with self.assertRaises(NodeError) as caught:
            retention.tidy(self.history, restic.Restic(self.history), time.time())
        self.assertEqual(caught.exception.code, "CONFLICT")
        aside = Path(control.anew({"project": "p"}, self.channel())["aside"])
        self.assertTrue((aside / "repository/config").exists() and (aside / "key").exists())
        self.assertTrue(self.save()["made"])
        self.check()

    def test_killed_at_any_moment_the_next_save_succeeds(self):
        self.up({f"f{number}": os.urandom(20_000) for number in range(200)})
        self.on()
        self.save()
        code = f"import sys; sys.path.insert(0, {str(Path(control.__file__).parents[2])!r}); from flexrack_node.history import keeper, restic; from pathlib import Path; restic.find = lambda _: {restic_of_tests()!r}; keeper.main({str(self.root)!r}, 'p')"
        for number in range(3):
            for file in list(self.code.iterdir())[number::4]:
                file.write_bytes(os.urandom(20_000))
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", code],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            time.sleep(0.2 + 0.15 * number)
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self.save()
        self.check()

    def test_no_room_is_said_and_another_save_makes_up_for_it(self):
        self.up(PROJECT)
        self.on()
        with mock.patch("flexrack_node.history.saving.free_bytes", lambda _path: 1000):
            Keeper(self.history).once(time.time())
        found = verbs.listing({"project": "p"}, self.channel())
        self.assertIn("1.0 kB are free", found["error"])
        Keeper(self.history).once(time.time())
        found = verbs.listing({"project": "p"}, self.channel())
        self.assertEqual((found["error"], len(found["snapshots"])), (None, 1))

    def test_a_removed_workspace_keeps_its_history_unless_told_otherwise(self):
        self.up(PROJECT)
        self.on()
        (self.code / "train.py").write_text("two\n")
        control.remove_workspace({"project": "p"}, self.channel())
        self.assertFalse(self.place.exists())
        self.assertFalse(self.history.is_on())
        self.assertEqual((Path(self.restore()["folder"]) / "train.py").read_text(), "two\n")
        control.remove_workspace({"project": "p", "history": True}, self.channel())
        self.assertFalse(self.history.path.exists())


if __name__ == "__main__":
    unittest.main()

import os
import random
import shutil
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import sync
from sync_support import SyncCase


class SyncTest(SyncCase):
    def test_follows_the_project_through_any_change(self):
        source = random.Random(7)
        for _ in range(60):
            project = {}
            for _ in range(source.randrange(8)):
                path = "/".join(source.choice("abc") for _ in range(source.randrange(1, 4)))
                if any(
                    other == path or other.startswith(path + "/") or path.startswith(other + "/") for other in project
                ):
                    continue
                project[path] = source.choice([b"", b"1", b"2", "a", "b/c", None])
            self.up(project)
            self.assertEqual(self.shown(), project)
            self.assertFalse(self.up(project))

    def test_keeps_what_was_made_here_when_everything_around_it_goes(self):
        self.up({"run/train.py": b"1", "run/deep/a": b"2"})
        (self.code / "run" / "checkpoint.pt").write_bytes(b"weights")
        self.up({"other": b"3"})
        self.assertEqual(self.shown(), {"other": b"3", "run/checkpoint.pt": b"weights"})

    def test_repairs_what_was_changed_removed_or_replaced_here(self):
        project = {"a": b"1", "b/c": b"2", "l": "a", "d": None}
        self.up(project)
        (self.code / "a").write_bytes(b"changed")
        (self.code / "l").unlink()
        (self.code / "d").rmdir()
        shutil.rmtree(self.code / "b")
        self.assertTrue(self.up(project, overwrite=True))
        self.assertEqual(self.shown(), project)

    def test_what_was_edited_or_made_here_is_neither_replaced_nor_removed_unasked(self):
        self.up({"a": b"1", "b": b"1", "gone": b"1"})
        (self.code / "a").write_bytes(b"edited")
        (self.code / "new").write_bytes(b"made here")
        for project, path in (
            ({"a": b"2", "b": b"2", "gone": b"1"}, "a"),
            ({"b": b"1", "gone": b"1"}, "a"),
            ({"a": b"edited", "b": b"2", "new": b"3"}, "new"),
        ):
            with self.assertRaises(NodeError) as caught:
                self.up(project)
            self.assertEqual(
                (caught.exception.code, caught.exception.details), ("CONFLICT", {"path": path, "edited": [path]})
            )
            self.assertEqual(self.shown(), {"a": b"edited", "b": b"1", "gone": b"1", "new": b"made here"})
        self.assertTrue(self.up({"a": b"edited", "new": b"made here"}))  # the same on both sides
        (self.code / "a").write_bytes(b"once more")
        self.assertTrue(self.up({"a": b"2"}, overwrite=True))
        self.assertEqual(self.shown(), {"a": b"2"})

    def test_what_is_edited_the_moment_it_arrives_is_not_taken_for_what_arrived(self):
        replace = os.replace

        def replaced(source, name, **how):
            replace(source, name, **how)
            if name == b"a":
                (self.code / "a").write_bytes(b"edited at once")

        self.up({"a": b"1"})
        with mock.patch.object(sync.os, "replace", replaced):
            self.up({"a": b"2"})
        with self.assertRaises(NodeError) as caught:
            self.up({"a": b"3"})
        self.assertEqual((caught.exception.code, self.shown()), ("CONFLICT", {"a": b"edited at once"}))

    def test_notices_a_change_that_keeps_size_and_time(self):
        self.up({"a": b"one"})
        before = (self.code / "a").stat()
        (self.code / "a").write_bytes(b"two")
        os.utime(self.code / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertTrue(self.up({"a": b"one"}, overwrite=True))

    def test_nothing_changes_when_the_body_ends_early_and_what_came_whole_is_kept(self):
        self.up({"a": b"old"})
        request, body = self.prepare({"a": b"new", "big": b"x" * 1000000})
        order = request["send"]
        with self.assertRaises(NodeError) as caught:
            sync.apply(request, self.channel(body[:-1]))
        self.assertEqual(caught.exception.code, "INTERRUPTED")
        self.assertEqual(self.shown(), {"a": b"old"})
        request, _ = self.prepare({"a": b"new", "big": b"x" * 1000000})
        self.assertEqual(request["send"], order[1:])

    def test_a_sync_cut_short_while_files_were_moved_is_repaired(self):
        self.up({"a": b"1", "b": b"1", "gone": b"1"})
        request, body = self.prepare({"a": b"2", "b": b"2", "new": b"3"})
        moved = []
        real = os.replace

        def replace(source, target, **where):
            if where and moved:
                raise KeyboardInterrupt
            moved.extend([target] if where else [])
            real(source, target, **where)

        sync.os.replace = replace
        try:
            with self.assertRaises(KeyboardInterrupt):
                sync.apply(request, self.channel(body))
        finally:
            sync.os.replace = real
        self.assertEqual(self.shown(), {"a": b"2", "b": b"1"})
        self.up({"a": b"2", "new": b"3"})
        self.assertEqual(self.shown(), {"a": b"2", "new": b"3"})

    def test_content_that_is_not_what_was_announced_is_not_taken(self):
        self.up({"a": b"old"})
        request, _ = self.prepare({"a": b"new"})
        with self.assertRaises(NodeError) as caught:
            sync.apply(request, self.channel(b"NEW"))
        self.assertEqual((caught.exception.code, caught.exception.details), ("CONFLICT", {"retry": True}))
        self.assertEqual(self.shown(), {"a": b"old"})

    def test_a_decision_made_on_an_older_state_is_refused(self):
        request, body = self.prepare({"a": b"1"})
        self.up({"b": b"2"})
        with self.assertRaises(NodeError) as caught:
            sync.apply(request, self.channel(body))
        self.assertEqual((caught.exception.code, caught.exception.details), ("CONFLICT", {"retry": True}))

    def test_never_leaves_its_folder(self):
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "precious").write_bytes(b"1")
        for path in ("../x", "/etc/x", "a/../../x", "a//b", ".", "", "a/", "nul\0"):
            request, body = self.prepare({"fine": b"1"})
            request["put"][0][0] = path
            with self.assertRaises(NodeError, msg=path):
                sync.apply(request, self.channel(body))
            request["put"], request["remove"] = [], [path]
            with self.assertRaises(NodeError, msg=path):
                sync.apply(request, self.channel(body))
        request, body = self.prepare({"fine": b"1"})
        request["send"][0][0] = "../../x"
        with self.assertRaises(NodeError):
            sync.apply(request, self.channel(body))
        for project in ("../p", "a/b", "", ".x", None):
            with self.assertRaises(NodeError):
                sync.compare({"project": project}, self.channel())
        self.assertEqual(sorted(one.name for one in self.folder.iterdir()), ["outside", "root"])
        self.assertEqual(os.listdir(outside), ["precious"])

    def test_a_link_on_the_way_is_an_obstacle_and_not_a_way(self):
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "a").write_bytes(b"precious")
        self.up({"sub/a": b"1", "sub/b": b"1"})
        shutil.rmtree(self.code / "sub")
        (self.code / "sub").symlink_to(outside)
        with self.assertRaises(NodeError) as caught:
            self.up({"sub/a": b"2"})
        self.assertEqual((caught.exception.code, caught.exception.details["path"]), ("CONFLICT", "sub"))
        self.up({"other": b"3"})  # removes what was below sub, as far as that is ours
        self.assertEqual((outside / "a").read_bytes(), b"precious")
        self.assertEqual(os.readlink(self.code / "sub"), str(outside))

    def test_a_linked_code_folder_or_workspace_is_refused(self):
        outside = self.folder / "outside"
        outside.mkdir()
        for path in (self.code, self.place):
            self.up({"a": b"1"})
            shutil.rmtree(path)
            path.symlink_to(outside)
            with self.assertRaises(NodeError):
                self.up({"a": b"2"})
            self.assertEqual([one for one in outside.rglob("*") if one.name == "a"], [])
            path.unlink()
            shutil.rmtree(self.place, ignore_errors=True)

    def test_a_folder_of_the_nodes_own_is_not_replaced_by_a_file(self):
        self.up({"a": b"1"})
        (self.code / "out").mkdir()
        (self.code / "out" / "m.pt").write_bytes(b"weights")
        with self.assertRaises(NodeError) as caught:
            self.up({"a": b"2", "out": b"3"})
        self.assertEqual(caught.exception.details["path"], "out")
        self.assertEqual(self.shown(), {"a": b"1", "out/m.pt": b"weights"})
        (self.code / "notes").write_bytes(b"mine")
        with self.assertRaises(NodeError):
            self.up({"a": b"2", "notes/x": b"3"})
        self.assertEqual((self.code / "notes").read_bytes(), b"mine")

    def test_a_project_larger_than_the_disk_is_refused_before_anything_is_written(self):
        request, _ = self.prepare({"a": b"1"})
        request["send"][0][1] = 1 << 60
        with self.assertRaises(NodeError) as caught:
            sync.apply(request, self.channel())
        self.assertEqual(caught.exception.code, "NODE_UNFIT")
        self.assertEqual(self.shown(), {})

    def test_files_are_for_the_owner_alone(self):
        self.up({"a": b"1", "sub/b": b"2"})
        self.assertEqual(
            [oct(path.stat().st_mode & 0o777) for path in (self.place, self.code, self.code / "a", self.code / "sub")],
            ["0o700", "0o700", "0o600", "0o700"],
        )

"""Data sets of a node, on real folders: shared contents, damage, eviction, pins, and what a run is given."""

import os
import shutil
import stat
import subprocess
import sys
import unittest
from unittest import mock

from data_support import DataCase
from flexrack_node.base import installed
from flexrack_node.base.errors import NodeError
from flexrack_node.data import use, verbs


class DataTest(DataCase):
    def listed(self):
        return {one["digest"]: one for one in verbs.listing(None, self.channel())["versions"]}

    def run_with(self, digest, run="r", is_over=False):
        folder = self.root / "runs" / run
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "spec.json").write_text("{}")
        if is_over:
            (folder / "result.json").write_text("{}")
        return use.with_data({"data": [{"name": "set", "digest": digest}]}, folder, self.channel())

    def test_two_versions_share_what_is_the_same_and_only_the_rest_travels(self):
        first, answer = self.push({"a": b"1" * 1000, "deep/er/b": b"2" * 1000, "copy": b"1" * 1000})
        self.assertEqual(answer, {"bytes": 2000, "evicted": []})
        second, answer = self.push({"a": b"1" * 1000, "deep/er/b": b"3" * 1000})
        self.assertEqual(answer["bytes"], 1000)
        self.assertEqual(set(self.listed()), {first, second})
        self.assertEqual(verbs.listing(None, self.channel())["bytes"], 3000)
        trees = [self.store.version(one) / "tree" for one in (first, second)]
        self.assertTrue(os.path.samefile(trees[0] / "a", trees[1] / "a"))
        self.assertEqual((trees[1] / "deep/er/b").read_bytes(), b"3" * 1000)
        self.assertEqual(verbs.remove({"digest": first}, self.channel()), {"removed": True, "bytes": 1000})
        self.assertEqual((trees[1] / "a").read_bytes(), b"1" * 1000)
        self.assertEqual(verbs.remove({"digest": first}, self.channel())["removed"], False)

    def test_nothing_in_it_can_be_written(self):
        digest, _answer = self.push({"deep/a": b"1"})
        tree = self.store.version(digest) / "tree"
        self.assertEqual(
            [stat.S_IMODE((tree / one).stat().st_mode) for one in ("", "deep", "deep/a")], [0o555, 0o555, 0o444]
        )
        if os.getuid() == 0:  # for root modes say nothing: another user tries
            os.chmod(self.root, 0o755)
            for folder in (self.store.path, self.store.versions, self.store.version(digest)):
                os.chmod(folder, 0o755)
            child = os.fork()
            if child == 0:
                os.setuid(65534)
                os._exit(0 if can_write(tree) else 3)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)
        else:
            self.assertFalse(can_write(tree))

    def test_a_content_that_is_not_what_it_is_called_is_refused_and_what_came_whole_stays(self):
        files = {"a": b"1" * 10, "b": b"2" * 10}
        with self.assertRaises(NodeError) as caught:
            self.push(files, spoil=lambda body: body[:-1] + b"x")
        self.assertEqual(caught.exception.code, "CONFLICT")
        self.assertEqual(self.listed(), {})
        self.assertEqual(self.push(files)[1]["bytes"], 10)

    def test_a_push_that_was_cut_goes_on_in_the_middle_of_a_file(self):
        files = {"a": b"1" * 10, "large": os.urandom(1_000_000)}
        with self.assertRaises(NodeError) as caught:
            self.push(files, spoil=lambda body: body[:600_010])
        self.assertEqual(caught.exception.code, "INTERRUPTED")
        self.assertEqual(self.listed(), {})
        self.assertEqual(verbs.listing(None, self.channel())["bytes"], 600_010)
        digest, answer = self.push(files)
        self.assertEqual(answer["bytes"], 400_000)
        self.assertEqual((self.store.version(digest) / "tree/large").read_bytes(), files["large"])
        self.assertEqual(stat.S_IMODE((self.store.version(digest) / "tree/large").stat().st_mode), 0o444)
        self.assertEqual(list(self.store.begun()), [])

    def test_what_came_before_a_cut_is_not_believed(self):
        files = {"large": b"1" * 1000}
        with self.assertRaises(NodeError):
            self.push(files, spoil=lambda body: body[:600])
        [(part, _info)] = self.store.begun()
        part.write_bytes(b"2" * 600)
        with self.assertRaises(NodeError) as caught:
            self.push(files)
        self.assertEqual((caught.exception.code, caught.exception.details.get("retry")), ("CONFLICT", True))
        self.assertEqual(self.push(files)[1]["bytes"], 1000)

    def test_what_a_cut_push_left_stays_until_there_is_no_room_or_for_a_week(self):
        other, _answer = self.push({"other": b"3" * 100})
        files = {"a": b"1" * 10, "large": b"2" * 1000}
        with self.assertRaises(NodeError):
            self.push(files, spoil=lambda body: body[:600])
        verbs.remove({"digest": other}, self.channel())
        self.assertEqual(verbs.listing(None, self.channel())["bytes"], 600)
        self.push({"small": b"4"}, limit=700)
        self.assertEqual(verbs.listing(None, self.channel())["bytes"], 601)
        self.push({"larger": b"5" * 500}, limit=700)
        self.assertEqual(verbs.listing(None, self.channel())["bytes"], 501)
        with self.assertRaises(NodeError):
            self.push(files, spoil=lambda body: body[:600])
        for path, _info in [*self.store.begun(), *self.store.contents()]:
            os.utime(path, (1.0, 1.0))
        self.push({"small": b"4", "more": b"6"})
        self.assertEqual(verbs.listing(None, self.channel())["bytes"], 502)

    def test_verify_names_a_flipped_byte_and_after_fix_a_push_brings_it_anew(self):
        digest, _answer = self.push({"a": b"1" * 10, "sub/b": b"2" * 10})
        bad = self.store.version(digest) / "tree/sub/b"
        self.assertEqual(verbs.verify({"digest": digest}, self.channel())["bad"], [])
        os.chmod(bad, 0o644)
        bad.write_bytes(b"2" * 9 + b"x")
        os.chmod(bad, 0o444)
        self.assertEqual(verbs.verify({"digest": digest}, self.channel()), {"files": 2, "bytes": 20, "bad": ["sub/b"]})
        verbs.verify({"digest": digest, "fix": True}, self.channel())
        # nobody else had the other one
        self.assertEqual(self.push({"a": b"1" * 10, "sub/b": b"2" * 10})[1]["bytes"], 20)
        self.assertEqual(verbs.verify({"digest": digest}, self.channel())["bad"], [])

    def test_the_limit_is_kept_by_what_was_used_longest_ago_and_never_by_what_a_run_has(self):
        first = self.push({"a": b"1" * 1000}, limit=2500)[0]
        second = self.push({"a": b"2" * 1000}, limit=2500)[0]
        for digest, at in ((first, 10), (second, 20)):
            os.utime(self.store.version(digest) / "used", (at, at))
        self.run_with(first)  # also used just now
        third, answer = self.push({"a": b"3" * 1000}, limit=2500)
        self.assertEqual(answer["evicted"], [second])
        self.assertEqual(self.listed()[first]["runs"], ["r"])
        with self.assertRaises(NodeError) as caught:
            self.push({"a": b"4" * 2000}, limit=2500)
        self.assertEqual((caught.exception.code, "r" in caught.exception.message), ("NODE_UNFIT", True))
        with self.assertRaises(NodeError) as caught:
            verbs.remove({"digest": first}, self.channel())
        self.assertEqual(caught.exception.details, {"runs": ["r"]})
        self.run_with(first, is_over=True)
        self.push({"a": b"5" * 2000}, limit=2500)
        self.assertNotIn(first, self.listed())
        self.assertLessEqual(verbs.listing(None, self.channel())["bytes"], 2500)
        self.assertNotIn(third, self.listed())

    def test_what_a_run_is_about_to_begin_with_stays_while_another_one_brings_its_own(self):
        first = self.push({"a": b"1" * 1000}, limit=1500)[0]
        verbs.listing({"digest": first, "claim": "early"}, self.channel())
        with self.assertRaises(NodeError) as caught:
            self.push({"a": b"2" * 1000}, limit=1500)
        self.assertEqual((caught.exception.code, "early" in caught.exception.message), ("NODE_UNFIT", True))
        self.run_with(first, run="early")
        self.assertEqual(self.listed()[first]["runs"], ["early"])
        self.run_with(first, run="early", is_over=True)
        second = self.push({"a": b"2" * 1000}, limit=1500)[0]
        verbs.listing({"digest": second, "claim": "never"}, self.channel())
        claim = self.store.version(second) / "claim-never"
        os.utime(claim, (1, 1))  # whoever was to start it was killed
        third, answer = self.push({"a": b"3" * 1000}, limit=1500)
        self.assertEqual(answer["evicted"], [second])
        with self.assertRaises(NodeError):
            verbs.listing({"digest": third, "claim": "../../x"}, self.channel())

    @unittest.skipUnless(os.getuid() == 0, "mounts a small file system")
    def test_a_full_disk_is_an_error_that_leaves_what_was_there(self):
        self.store.make()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "flexrack-test", str(self.store.path)], check=True
        )
        self.addCleanup(
            lambda: subprocess.run(["umount", "-l", str(self.store.path)], check=False, stderr=subprocess.DEVNULL)
        )
        try:
            with mock.patch.object(verbs, "MARGIN_BYTES", 0):
                self.store.make()
                first = self.push({"a": os.urandom(3 << 20)})[0]
                self.run_with(first)
                second = self.push({"a": os.urandom(3 << 20)})[0]
                third, answer = self.push({"a": os.urandom(3 << 20)})
                self.assertEqual((answer["evicted"], set(self.listed())), ([second], {first, third}))
                with self.assertRaises(NodeError) as caught:
                    self.push({"a": os.urandom(6 << 20)})
                self.assertEqual(
                    (caught.exception.code, "r" in caught.exception.details or "(r)" in caught.exception.message),
                    ("NODE_UNFIT", True),
                )
                self.assertIn(first, self.listed())
                with mock.patch.object(verbs, "make_room", lambda *_: []):  # somebody else takes the room in between
                    with self.assertRaises(NodeError) as caught:
                        self.push({"a": os.urandom(6 << 20)})
                    self.assertEqual(caught.exception.code, "NODE_UNFIT")
                self.assertEqual([path.name for path in self.store.path.iterdir() if path.name == "part"], [])
                self.assertEqual(verbs.verify({"digest": first}, self.channel())["bad"], [])
        finally:
            subprocess.run(["umount", "-l", str(self.store.path)], check=True)

    def test_a_run_finds_its_data_below_one_folder_and_is_refused_without_it(self):
        digest, _answer = self.push({"train/x": b"1"})
        spec = self.run_with(digest)
        with open(os.path.join(spec["data_folder"], "set/train/x"), "rb") as stream:
            self.assertEqual(stream.read(), b"1")
        with self.assertRaises(NodeError) as caught:
            self.run_with("0" * 64)
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    def test_paths_that_lead_out_and_digests_that_are_none_are_refused(self):
        for files in ({"../a": b"1"}, {"/a": b"1"}, {"a/./b": b"1"}):
            with self.assertRaises(NodeError) as caught:
                self.push(files)
            self.assertEqual(caught.exception.code, "BUG")
        for digest in ("../..", "", None, "A" * 64):
            with self.assertRaises(NodeError):
                self.store.version(digest)

    def test_uninstalling_takes_it_away(self):
        self.push({"deep/a": b"1"})
        with mock.patch.object(shutil, "rmtree", wraps=shutil.rmtree):
            self.assertTrue(installed.remove(self.root, {"path": "data", "kind": "data"}))
        self.assertFalse(self.store.path.exists())


def can_write(tree):
    for name, flags in (("deep/a", os.O_WRONLY), ("deep/new", os.O_WRONLY | os.O_CREAT)):
        try:
            os.close(os.open(tree / name, flags))
            return True
        except PermissionError:
            pass
    return False


if __name__ == "__main__":
    sys.exit(unittest.main())

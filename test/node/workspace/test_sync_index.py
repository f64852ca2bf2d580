import shutil

from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import index, sync
from sync_support import SyncCase, digest


class SyncIndexTest(SyncCase):
    def set(self, module, name, value):
        self.addCleanup(setattr, module, name, getattr(module, name))
        setattr(module, name, value)

    def test_a_small_change_leaves_the_index_and_adds_to_its_log(self):
        project = {f"d{number % 7}/f{number}": b"%d" % number for number in range(200)}
        self.set(sync, "RACY_NS", 0)  # else all of these new files are looked at twice
        self.up(project)
        before = (self.place / "index.json").stat()
        for turn in range(3):
            project["d1/f1"] = b"changed %d" % turn
            self.assertTrue(self.up(project))
            self.assertFalse(self.up(project))
        self.assertEqual((self.place / "index.json").stat(), before)
        del project["d2/f2"]
        self.up(project)
        self.assertFalse(self.up(project))
        self.assertEqual(self.shown(), project)
        self.assertLess((self.place / "index.log").stat().st_size, 30_000)  # nearly all of it is the first sync

    def test_a_log_that_grows_long_is_taken_into_the_index(self):
        self.set(index, "LOG_BYTES", 2000)
        for turn in range(40):
            self.up({"a": b"%d" % turn, f"new{turn}": b""})
            self.assertFalse(self.up({"a": b"%d" % turn, f"new{turn}": b""}))
            log = self.place / "index.log"
            self.assertLess(log.stat().st_size if log.exists() else 0, 3000)

    def test_a_log_cut_anywhere_is_repaired_by_the_next_sync(self):
        self.up({"a": b"1", "b": b"1", "c": b"1"})
        self.up({"a": b"2", "b": b"1", "d": b"1"})
        log = (self.place / "index.log").read_bytes()
        kept = self.folder / "kept"
        shutil.copytree(self.place, kept, symlinks=True)
        for length in range(0, len(log), 7):
            shutil.rmtree(self.place)
            shutil.copytree(kept, self.place, symlinks=True)
            (self.place / "index.log").write_bytes(log[:length])
            self.up({"a": b"2", "b": b"1", "d": b"1"})
            self.assertEqual(self.shown(), {"a": b"2", "b": b"1", "d": b"1"})
            self.up({"a": b"3"})
            self.assertFalse(self.up({"a": b"3"}))
            self.assertEqual({path: what for path, what in self.shown().items() if path == "a"}, {"a": b"3"})

    def test_an_old_log_beside_a_new_index_says_nothing(self):
        self.up({"a": b"1"})
        self.up({"a": b"2"})
        old = (self.place / "index.log").read_bytes()
        self.set(index, "LOG_BYTES", 0)
        self.up({"a": b"3", "b": b"3"})
        (self.place / "index.log").write_bytes(old)
        self.assertFalse(self.up({"a": b"3", "b": b"3"}))
        self.up({"b": b"4"})
        self.assertFalse(self.up({"b": b"4"}))
        self.assertEqual(self.shown(), {"b": b"4"})

    def test_a_caller_that_knows_the_last_content_is_told_only_what_differs(self):
        project = {"a": b"1", "b/c": b"2", "d": b"3"}
        tree = self.tree(project)
        self.assertNotIn("base", sync.compare({"project": "p", "tree": tree, "bases": [tree]}, self.channel()))
        self.up(project)
        (self.code / "a").write_bytes(b"changed")
        (self.code / "d").unlink()
        requested = {"project": "p", "tree": self.tree({"a": b"1"}), "bases": ["0" * 32, tree]}
        reported = sync.compare(requested, self.channel())
        self.assertEqual(
            (reported["base"], reported["inventory"]),
            (tree, [["a", "f", digest(b"changed"), False], ["d", "", "", False]]),
        )
        reported = sync.compare({**requested, "bases": ["0" * 32]}, self.channel())
        self.assertEqual((reported["base"], len(reported["inventory"])), (None, 3))
        request, _body = self.prepare({"a": b"4"})
        with self.assertRaises(NodeError):
            sync.apply(request, self.channel(b""))
        self.assertIsNone(sync.compare({"project": "p", "tree": tree, "bases": ["0" * 32]}, self.channel())["base"])

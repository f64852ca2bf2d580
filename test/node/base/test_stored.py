"""Files that outlive who wrote them: of each kind one as an older version left it, and one of a newer, read as the
program reads them.
"""

import json
import os
import shutil
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base import stored
from flexrack_node.base.errors import NodeError
from flexrack_node.base.file_schemas import SCHEMAS
from flexrack_node.reservation.place import Place
from flexrack_node.run.files import RunFolder
from flexrack_node.slurm.board import Board
from flexrack_node.verbs import look
from stored_support import CACHES, ELSEWHERE, FILES, RECORD, SPEC


class StoredFilesTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-stored-"))
        self.addCleanup(shutil.rmtree, self.root, True)

    def write(self, name, value):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value) + "\n")
        if name.startswith("runs/") and not (self.root / "runs/r/spec.json").exists():
            (self.root / "runs/r/spec.json").write_text(json.dumps(SPEC))
        (self.root / "runs").mkdir(exist_ok=True)
        return path

    def test_every_kind_is_tried(self):
        self.assertEqual({kind for kind, *_ in FILES} | ELSEWHERE | CACHES, set(SCHEMAS))

    def test_a_file_from_before_there_were_numbers_is_read_as_one_of_today(self):
        for kind, name, value, how, expected in FILES:
            with self.subTest(kind):
                self.assertEqual(how(self.write(name, value)), expected)

    def test_of_a_newer_one_it_is_said_which_file_it_is_and_what_to_do(self):
        for kind, name, value, how, _ in FILES:
            with self.subTest(kind):
                path = self.write(name, {**value, "schema": SCHEMAS[kind] + 1})
                with self.assertRaises(NodeError) as caught:
                    how(path)
                self.assertEqual(
                    (caught.exception.code, str(path) in caught.exception.message, "upgrade" in caught.exception.hint),
                    ("NEWER_VERSION", True, True),
                )
            path.unlink()

    def test_what_is_written_has_the_number_and_is_read_without_it(self):
        for kind in SCHEMAS:
            written = stored.stamped(kind, {"a": 1})
            self.assertEqual(
                (written, stored.current(kind, written, "f")), ({"schema": SCHEMAS[kind], "a": 1}, {"a": 1})
            )

    def test_a_file_is_replaced_whole_by_a_draft_of_the_owner_alone_whose_name_no_other_machine_has(self):
        drafts, replace = [], os.replace

        def seen(draft, path):
            drafts.append((Path(draft).name, os.stat(draft).st_mode & 0o777))
            replace(draft, path)

        path = self.root / "state.json"
        old = os.umask(0)
        try:
            with mock.patch.object(stored.os, "replace", seen), mock.patch.object(stored.os, "getpid", lambda: 7):
                for status in ("running", "ended"):
                    stored.write("run.state", path, {"status": status})
        finally:
            os.umask(old)
        self.assertEqual([mode for _, mode in drafts], [0o600, 0o600])
        self.assertEqual(len({name for name, _ in drafts}), 2)  # of one process, and so of two with one pid
        self.assertEqual(
            (stored.read("run.state", path), path.stat().st_mode & 0o777, os.listdir(self.root)),
            ({"status": "ended"}, 0o600, ["state.json"]),
        )

    def test_where_it_cannot_be_written_the_old_one_stays_and_no_draft(self):
        path = self.root / "state.json"
        stored.write("run.state", path, {"status": "running"})
        with mock.patch.object(stored.os, "fsync", side_effect=OSError(28, "no space")), self.assertRaises(OSError):
            stored.write("run.state", path, {"status": "ended"})
        self.assertEqual(
            (stored.read("run.state", path), os.listdir(self.root)), ({"status": "running"}, ["state.json"])
        )

    def test_what_is_not_there_or_was_cut_off_is_nothing_and_what_cannot_be_read_is_said(self):
        path = self.root / "state.json"
        self.assertIsNone(stored.read("run.state", path))
        self.assertIsNone(stored.read("run.state", path / "below"))
        path.write_bytes(b'{"status": "run\xff')
        self.assertIsNone(stored.read("run.state", path))
        with self.assertRaises(IsADirectoryError):
            stored.read("run.state", self.root)

    def test_a_summary_or_a_queue_of_another_version_is_made_again(self):
        folder = RunFolder(self.write("runs/r/summary.3.json", {"run": "old"}).parent)
        plain = {key: value for key, value in SPEC.items() if key not in ("scheduler", "slurm")}
        (folder.path / "spec.json").write_text(json.dumps(plain))
        folder.write(
            "result",
            {
                "status": "finished",
                "exit": 0,
                "cause": None,
                "started": 1.0,
                "ended": 2.0,
                "recorded": True,
                "term": 1,
                "leader": "a",
            },
        )
        for other in (None, {"run": "old"}, {"schema": 99, "run": "newer"}):
            if other:
                (folder.path / "summary.json").write_text(json.dumps(other))
            with mock.patch.object(look, "repair"):
                self.assertEqual([one["run"] for one in look.listing(None, mock.Mock(root=self.root))], ["r"])
            self.assertEqual(json.loads((folder.path / "summary.json").read_text())["schema"], SCHEMAS["run.summary"])
        for other in ({"bin": None, "jobs": {"1": {"asked": time.time()}}, "watched": {}}, {"schema": 99}):
            (self.root / "runs/.queue.json").write_text(json.dumps(other))
            board = Board(self.root / "runs", None, lambda *_: {"1": {"job": "1", "state": "PENDING"}})
            self.assertEqual(board.look("1", 0.0)["state"], "PENDING")

    def test_a_reservation_of_a_newer_version_that_nobody_renews_any_more_holds_nobody_up(self):
        path = self.write("shared/flexrack-reservations-0/r.json", {**RECORD, "schema": 99})
        place = Place(path.parents[1], True)
        with self.assertRaises(NodeError):
            place.records()
        os.utime(path, (1, 1))
        self.assertEqual((place.records(), place.damaged), ([], 1))

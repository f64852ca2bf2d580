"""Uninstalling takes away what is listed below the root, and nothing else."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

from flexrack_node import uninstall
from flexrack_node.base import installed
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from waiting import LONG


class UninstallTest(unittest.TestCase):
    def setUp(self) -> None:
        keep = tempfile.TemporaryDirectory(prefix="flexrack-uninstall-")
        self.addCleanup(keep.cleanup)
        self.home = Path(keep.name)
        self.root = self.home / "root"
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())

    def put(self, path: str, kind: str = "run") -> Path:
        installed.record(self.root, self.root / path, kind)
        folder = self.root / path
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
        return folder

    def test_removes_the_listed_paths_the_list_and_the_empty_root(self) -> None:
        self.put("program/abc")
        self.put("runs")
        answer = uninstall.remove({}, self.channel)
        self.assertEqual(
            answer, {"removed": [str(self.root / "runs"), str(self.root / "program" / "abc")], "left": [], "ended": 0}
        )
        self.assertFalse(self.root.exists())

    def test_leaves_what_is_not_listed_and_says_so(self) -> None:
        self.put("runs")
        (self.root / "notes.txt").write_text("mine")
        answer = uninstall.remove({}, self.channel)
        self.assertEqual(answer["left"], [{"path": str(self.root / "notes.txt"), "why": "not made by flexrack"}])
        self.assertEqual(os.listdir(self.root), ["notes.txt"])

    def test_never_removes_outside_the_root_not_by_path_and_not_by_link(self) -> None:
        outside = self.home / "outside"
        (outside / "deep").mkdir(parents=True)
        self.root.mkdir()
        (self.root / "link").symlink_to(outside)
        lines = [{"path": path, "kind": "run"} for path in (str(outside), "../outside", "link/deep", ".", "..", "/")]
        (self.root / "installed.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines) + '{"path": "torn'
        )
        answer = uninstall.remove({}, self.channel)
        self.assertEqual(answer["removed"], [])
        self.assertTrue((outside / "deep").is_dir())

    def test_removes_a_link_itself_not_what_it_points_to(self) -> None:
        outside = self.home / "outside"
        outside.mkdir()
        installed.record(self.root, self.root / "environments", "environment")
        (self.root / "environments").symlink_to(outside)
        self.assertEqual(uninstall.remove({}, self.channel)["removed"], [str(self.root / "environments")])
        self.assertTrue(outside.is_dir())

    def test_refuses_while_a_process_runs_from_there_and_ends_it_when_forced(self) -> None:
        folder = self.put("runs")
        process = self.start(
            [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"],
            FLEXRACK_TAG=str(folder / "x"),
        )
        self.assertEqual([one["pid"] for one in uninstall.listing({}, self.channel)["alive"]], [process.pid])
        with self.assertRaises(NodeError) as caught:
            uninstall.remove({}, self.channel)
        self.assertEqual(caught.exception.code, "CONFLICT")
        self.assertTrue((folder / "file").exists())
        with redirect_stdout(io.StringIO()):
            answer = uninstall.remove({"force": True, "grace": 5}, self.channel)
        self.assertEqual(answer["ended"], 1)
        self.assertEqual(process.wait(LONG), -15)
        self.assertFalse(self.root.exists())

    def test_who_only_has_a_file_of_it_open_or_names_one_is_left_alone(self) -> None:
        """An editor in a log, a pager, a backup; and what runs our program is found all the same."""
        folder = self.put("runs")
        log = folder / "rank-0.log"
        log.write_text("a line\n")
        wait = "import sys, time; file = open(sys.argv[1]); print('up', flush=True); time.sleep(600)"
        editor = self.start([sys.executable, "-c", wait, str(log)])
        module = self.start(
            [sys.executable, "-c", f"import sys; 'from flexrack_node.gang.reaper import main'; {wait}", str(log)]
        )
        program = self.root / "program" / "abc"
        program.mkdir(parents=True)
        shutil.copy("/bin/sleep", program / "flexrack-gpud")
        daemon = subprocess.Popen([str(program / "flexrack-gpud"), "600"])
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        self.assertEqual(
            [one["pid"] for one in uninstall.listing({}, self.channel)["alive"]], sorted([module.pid, daemon.pid])
        )
        with redirect_stdout(io.StringIO()):
            uninstall.remove({"force": True, "grace": 5}, self.channel)
        self.assertEqual((editor.poll(), module.wait(LONG), daemon.wait(LONG)), (None, -15, -15))

    def start(self, argv, **env) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(argv, env={**os.environ, **env}, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        return process

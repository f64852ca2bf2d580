"""What is asked of rclone, and what its answers mean: with a program in its place that does what it is told. Real
rclone: test/e2e/buckets.test.ts.
"""

import os
import stat
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any, List

from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.bucket import copying, remotes, verbs
from flexrack_node.bucket.rclone import Rclone

CONF = "[store]\ntype = s3\naccess_key_id = AKIDAKID\nsecret_access_key = verySecret1\n"


class CopyingTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.conf = self.folder / "conf"
        self.conf.write_text(CONF)
        self.outputs = self.folder / "outputs"
        (self.outputs / "keep").mkdir(parents=True)
        (self.outputs / "keep/a[1].bin").write_text("a")
        (self.outputs / "b").write_text("b")

    def rclone(self, script: str) -> Rclone:
        program = self.folder / "rclone"
        program.write_text(f'#!/bin/sh\necho "$*" >>{self.folder}/calls\n{script}\n')
        program.chmod(0o700)
        return Rclone(str(program), self.conf)

    def calls(self) -> List[str]:
        return [line.split(" --use-json-log")[0] for line in (self.folder / "calls").read_text().splitlines()]

    def upload(self, rclone: Rclone, files: List[str]) -> Any:
        return copying.upload(
            rclone, {"to": "store:bucket/runs", "files": files}, self.outputs, "run-1", lambda *_: None
        )

    def test_notices_are_no_failure_and_what_was_copied_is_compared(self) -> None:
        done = self.upload(
            self.rclone(
                'echo \'{"level":"notice","msg":"cannot follow"}\' >&2; [ "$1" = backend ] && echo \'{"Hashes":["md5"]}\'; exit 0'
            ),
            ["keep/"],
        )
        self.assertEqual(done, {"to": "store:bucket/runs/run-1", "files": 1, "bytes": 1, "links": 0})
        self.assertEqual([one.split()[0] for one in self.calls()], ["backend", "copy", "check"])
        self.assertNotIn("--download", self.calls()[-1])

    def test_without_hashes_contents_are_read_once_more(self) -> None:
        self.upload(self.rclone('[ "$1" = backend ] && echo \'{"Hashes":[]}\'; exit 0'), [])
        self.assertIn("--download", self.calls()[-1])

    def test_what_differs_goes_once_more_and_then_it_is_an_error(self) -> None:
        with self.assertRaisesRegex(NodeError, "did not come to store:bucket/runs/run-1 as it is: sizes differ"):
            self.upload(
                self.rclone(
                    '[ "$1" = check ] && { echo \'{"level":"error","msg":"sizes differ"}\' >&2; exit 1; }; exit 0'
                ),
                [],
            )
        self.assertEqual([one.split()[0] for one in self.calls()], ["backend", "copy", "check", "copy", "check"])
        self.assertIn("--ignore-times", self.calls()[3])

    def test_an_error_has_rclones_word_without_what_is_secret(self) -> None:
        with self.assertRaises(NodeError) as caught:
            self.upload(
                self.rclone('echo \'{"level":"error","msg":"403 for AKIDAKID with verySecret1"}\' >&2; exit 1'), []
            )
        self.assertIn("403 for *** with ***", caught.exception.message)

    def test_patterns_of_rclone_in_names_are_names(self) -> None:
        kept = self.folder / "patterns"
        self.upload(
            self.rclone(f'while [ $# -gt 0 ]; do [ "$1" = --filter-from ] && cat "$2" >{kept}; shift; done; exit 0'),
            ["keep/a[1].bin", "keep/"],
        )
        self.assertEqual(kept.read_text(), "+ /keep/a\\[1\\].bin\n+ /keep/**\n- *\n")

    def test_nothing_to_upload_calls_nothing_and_links_are_counted_not_followed(self) -> None:
        os.symlink("/etc", self.outputs / "link")
        self.assertEqual(
            self.upload(self.rclone("exit 1"), ["link/", "link"]),
            {"to": "store:bucket/runs/run-1", "files": 0, "bytes": 0, "links": 1},
        )
        self.assertFalse((self.folder / "calls").exists())

    def test_an_input_that_is_not_there_or_does_not_fit_is_an_error_before_it_is_copied(self) -> None:
        for said, code in (
            ('{"count":0,"bytes":0}', "NOT_FOUND"),
            ('{"count":1,"bytes":999999999999999}', "NODE_UNFIT"),
        ):
            with self.assertRaises(NodeError) as caught:
                copying.bring(
                    self.rclone(f"[ \"$1\" = size ] && echo '{said}'; exit 0"),
                    {"name": "set", "from": "store:set"},
                    self.folder / "inputs",
                    [],
                    lambda *_: None,
                )
            self.assertEqual(caught.exception.code, code)
        self.assertNotIn("sync", [one.split()[0] for one in self.calls()])

    def test_what_another_run_has_is_linked_and_stays_as_it_is(self) -> None:
        other = self.folder / "runs/a/inputs/set"
        other.mkdir(parents=True)
        (other / "x").write_text("old")
        script = f'[ "$1" = size ] && echo \'{{"count":1,"bytes":3}}\'; [ "$1" = sync ] && {{ echo new >{self.folder}/n; mv {self.folder}/n "$3/x"; }}; exit 0'
        copying.bring(
            self.rclone(script), {"name": "set", "from": "store:set"}, self.folder / "inputs", [other], lambda *_: None
        )
        self.assertEqual([(other / "x").read_text(), (self.folder / "inputs/set/x").read_text()], ["old", "new\n"])
        self.assertEqual(stat.S_IMODE((self.folder / "inputs/set/x").stat().st_mode), 0o444)

    def test_access_is_a_file_for_its_owner_and_gone_afterwards_also_what_a_killed_one_left(self) -> None:
        left = self.folder / ".remotes-999999999-x"
        left.write_text("secret")
        os.utime(left, (time.time() - 100,) * 2)
        with remotes.for_now(CONF, self.folder) as conf:
            self.assertEqual([stat.S_IMODE(conf.stat().st_mode), conf.read_text()], [0o600, CONF])
        self.assertEqual(sorted(path.name for path in self.folder.glob(".remotes-*")), [])
        spec = remotes.keep({"run": "r", "remotes": CONF, "inputs": [{"name": "a", "from": "b:"}]}, self.folder)
        self.assertEqual(
            spec, {"run": "r", "inputs": [{"name": "a", "from": "b:"}], "inputs_folder": f"{self.folder}/inputs"}
        )
        self.assertEqual(stat.S_IMODE((self.folder / "rclone.conf").stat().st_mode), 0o600)
        self.assertEqual(remotes.of_run(self.folder / "members/0"), self.folder / "rclone.conf")
        remotes.forget(self.folder)
        self.assertFalse((self.folder / "rclone.conf").exists())

    def test_inputs_of_a_run_that_never_started_go_once_nobody_brings_them(self) -> None:
        run = self.folder / "runs/run-1"
        (run / "inputs").mkdir(parents=True)
        channel: Any = SimpleNamespace(event=lambda *_args, **_more: None)
        with FileLock(run / "inputs.lock", channel, "the inputs of run-1"):
            os.utime(run, (0, 0))
            verbs.drop_orphans(self.folder)
            self.assertTrue(run.exists())
        verbs.drop_orphans(self.folder)
        self.assertFalse(run.exists())


if __name__ == "__main__":
    unittest.main()

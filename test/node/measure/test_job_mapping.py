"""Which run has which GPU, as dcgm-exporter reads it."""

import os
import tempfile
import threading
import unittest
from pathlib import Path

from flexrack_node.measure.job_mapping import JobMapping, run_is_over


class JobMappingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flexrack-mapping-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def _mapping(self, run, is_over=lambda job: False):
        return JobMapping(self.folder, run, is_over)

    def _files(self):
        return {path.name: path.read_text() for path in sorted(self.folder.iterdir())}

    def test_a_run_stands_in_the_files_of_its_gpus_while_it_goes_beside_what_others_wrote(self):
        (self.folder / "1").write_text("slurm-17\n")
        one, other = self._mapping("digits-1"), self._mapping("llama-2")
        for _ in range(2):
            one.hold(["0", "1", "MIG-x"])
        other.hold(["1"])
        self.assertEqual(self._files(), {"0": "digits-1\n", "1": "slurm-17\ndigits-1\nllama-2\n"})
        self.assertEqual((self.folder / "0").stat().st_mode & 0o777, 0o644)
        one.close()
        self.assertEqual(self._files(), {"1": "slurm-17\nllama-2\n"})
        other.close()
        self.assertEqual(self._files(), {"1": "slurm-17\n"})

    def test_a_run_that_was_killed_is_taken_out_by_the_next_one_and_one_that_lives_is_not(self):
        root = self.folder.parent / f"{self.folder.name}-root"
        for job in ("killed-1", "other"):
            (root / "runs" / job).mkdir(parents=True)
        self.addCleanup(lambda: __import__("shutil").rmtree(root))
        (root / "runs" / "killed-1" / "spec.json").write_text("{}")
        (self.folder / "0").write_text("killed-1\nother\n../x\nslurm 17\n")
        self._mapping("digits-1", run_is_over(root, "digits-1")).hold(["0"])
        self.assertEqual(self._files(), {"0": "other\n../x\nslurm 17\ndigits-1\n"})

    def test_what_another_account_put_there_is_not_read_for_everybody(self):
        secret = self.folder / "secret"
        secret.write_text("key\n")
        (self.folder / "0").symlink_to(secret)
        os.link(secret, self.folder / "1")
        os.mkfifo(self.folder / "2")
        for index in ("0", "1", "2"):
            with self.assertRaises(OSError):
                self._mapping("digits-1").hold([index])
        self.assertEqual(secret.read_text(), "key\n")
        with self.assertRaises(OSError):
            JobMapping(self.folder / "gone", "digits-1", lambda job: False).hold(["0"])

    def test_of_many_at_once_none_is_lost(self):
        runs = [self._mapping(f"run-{number}") for number in range(20)]
        threads = [threading.Thread(target=one.hold, args=(["3"],)) for one in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted((self.folder / "3").read_text().split()), sorted(f"run-{n}" for n in range(20)))
        for one in runs:
            one.close()
        self.assertEqual(self._files(), {})

import os
import stat
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.measure.textfile import STALE_SECONDS, TextFile, exposition, remove_stale
from run_support import Rack
from waiting import until

SAMPLE = {
    "t": 0,
    "s": 5.0,
    "attempt": 2,
    "cpu": 10.0,
    "memory": 1,
    "net": [0, 0],
    "rdma": None,
    "disk": [0, 0],
    "ranks": {"0": [150.0, 1000, 0, 0, 1], "1": [50.0, 500, 0, 0, 1]},
    "gpus": {"3": [75.0, 4096, None, None], "4": [None, None, None, None]},
}
SPEC = {
    "run": "digits-1",
    "index": 0,
    "node": "gpu-1",
    "project": 'a "b"\\',
    "owner": "ada@laptop\n# HELP",
    "created": 7,
}


class TextFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flexrack-textfile-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_link_that_somebody_puts_in_the_place_of_the_new_file_changes_no_modes(self):
        secret = self.folder / "secret"
        secret.write_text("key")
        secret.chmod(0o600)
        swap = os.open

        def swapped(path, *words, **named):
            descriptor = swap(path, *words, **named)
            (name,) = [one for one in os.listdir(self.folder) if one.startswith(".")]
            os.unlink(self.folder / name)
            os.symlink(secret, self.folder / name)
            return descriptor

        with mock.patch.object(os, "open", swapped):
            TextFile(self.folder, SPEC).write(SAMPLE, {}, None)
        self.assertTrue((self.folder / "flexrack_run_digits-1_0.prom").is_symlink())
        self.assertEqual(stat.S_IMODE(secret.stat().st_mode), 0o600)

    def test_series_of_a_name_are_together_labels_are_escaped_and_what_is_not_known_is_not_there(self):
        rank = {"steps": 9, "samples": 64, "data_wait": 1.5, "step_at": 123.0}
        text = exposition(SPEC, SAMPLE, {"3": {"uuid": "GPU-a"}}, [rank, {**rank, "steps": 8, "step_at": 120.0}])
        told = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertIn(
            'flexrack_run_info{run="digits-1",project="a \\"b\\"\\\\",user="ada@laptop\\n# HELP",node="gpu-1"} 1', told
        )
        for line in (
            'flexrack_run_step{run="digits-1"} 8',
            'flexrack_run_samples_total{run="digits-1"} 128',
            'flexrack_run_last_step_timestamp_seconds{run="digits-1"} 120.0',
            'flexrack_run_cpu_ratio{run="digits-1"} 2.0',
            'flexrack_run_memory_bytes{run="digits-1"} 1500',
            'flexrack_run_gpu_busy_ratio{run="digits-1",gpu="3",uuid="GPU-a"} 0.75',
            'flexrack_run_gpu_memory_used_bytes{run="digits-1",gpu="3",uuid="GPU-a"} 4096',
        ):
            self.assertIn(line, told)
        self.assertFalse([line for line in told if 'gpu="4"' in line])
        names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        self.assertEqual(len(names), len(set(names)))
        self.assertNotIn("flexrack_run_step", exposition(SPEC, SAMPLE, {}, []))

    def test_a_file_is_whole_readable_by_all_and_goes_and_so_do_those_of_runs_that_were_killed(self):
        killed, foreign = self.folder / "flexrack_run_old_0.prom", self.folder / "other.prom"
        for path in (killed, foreign):
            path.write_text("x 1\n")
            os.utime(path, (0, time.time() - STALE_SECONDS - 1))
        file = TextFile(self.folder, {**SPEC, "run": "a/../b"})
        self.assertEqual(sorted(os.listdir(self.folder)), ["other.prom"])
        file.write(SAMPLE, {}, None)
        path = self.folder / "flexrack_run_a_.._b_0.prom"
        self.assertEqual(sorted(os.listdir(self.folder)), [path.name, "other.prom"])
        self.assertEqual(path.stat().st_mode & 0o777, 0o644)
        remove_stale(self.folder, time.time())
        self.assertTrue(path.exists())
        file.close()
        self.assertEqual(os.listdir(self.folder), ["other.prom"])

    def test_a_run_keeps_its_file_while_it_goes_and_does_without_where_it_may_not_write(self):
        rack = Rack(1)
        self.addCleanup(rack.close)
        rack.script("import os, time\nwhile not os.path.exists('over'): time.sleep(0.05)\n")
        run = rack.start(textfile=str(self.folder), sample_seconds=0.2)
        path = until(lambda: next(iter(self.folder.glob("*.prom")), None))
        self.assertEqual(path.name, f"flexrack_run_{run}_0.prom")
        until(lambda: f'flexrack_run_ranks{{run="{run}"}} 1' in path.read_text())
        (rack.folder / "code" / "over").touch()
        rack.finish(run, "node-1")
        self.assertEqual(os.listdir(self.folder), [])
        (rack.folder / "code" / "over").touch()
        other = rack.start(textfile=str(self.folder / "gone"), sample_seconds=0.2)
        rack.finish(other, "node-1")
        events = (rack.folder / "node-1" / "runs" / other / "events.jsonl").read_text()
        self.assertEqual(events.count("metrics not written"), 1)

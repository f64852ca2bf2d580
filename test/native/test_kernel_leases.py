"""A kernel of one node with a GPU in software of another one: what a notebook starts (notebook/with_gpus.py), a door, and
a real daemon.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from leasing import DRIVERS, MIB, ONE_GPU, put_programs
from servers import BUILD, COMMON, ROOT, sanitizer_runtime, wait_until

sys.path.insert(0, str(ROOT / "native" / "test" / "gpu"))
sys.path.insert(0, str(ROOT / "node"))
from flexrack_node.base.channel import Channel  # noqa: E402
from flexrack_node.base.stored import write  # noqa: E402
from flexrack_node.gpu import passes  # noqa: E402
from rack import GpuDaemon  # noqa: E402

PROGRAM = ROOT / "test" / "fixtures" / "gpu" / "cuda_devices.py"
WITH_GPUS = ROOT / "node" / "flexrack_node" / "notebook" / "with_gpus.py"


class KernelLeasesTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-kernel-leases-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.own, self.other = self.folder / "a", self.folder / "b"
        kept = self.other / "gpu" / "daemon"
        kept.mkdir(parents=True, mode=0o700)
        self.daemon = GpuDaemon("sim", root=kept, transport="tls", grace=2)
        self.addCleanup(self.daemon.stop)
        write("gpu.settings", self.other / "gpu" / "settings.json", {"bind": ["127.0.0.1"]})
        channel = Channel(self.other, self.folder / "environments", sys.stdin.buffer)
        made = passes.allow({**ONE_GPU, "purpose": "notebook n on a"}, channel)
        self.addCleanup(passes.close_door, channel, 2.0)
        place = {key: made[key] for key in ("pass", "secret", "port", "daemon_port")}
        notebook = self.own / "notebooks" / "n"
        notebook.mkdir(parents=True)
        places = [{**place, "node": "b", "addresses": ["127.0.0.1"]}]
        (notebook / "gpus.json").write_text(json.dumps({**ONE_GPU, **DRIVERS, "places": places}))
        put_programs(self.own)

    def start(self, *command):
        """As Jupyter starts a kernel."""
        preload = ["env", f"LD_PRELOAD={sanitizer_runtime()}"] if BUILD.name == "asan" else []
        words = [sys.executable, str(WITH_GPUS), str(self.own), str(self.folder / "environments"), "n", *preload]
        process = subprocess.Popen(
            [*words, *map(str, command)],
            env={**os.environ, **COMMON},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def leases(self):
        return [(one["state"], one["purpose"]) for one in self.daemon.ask("leases")["leases"]]

    def test_it_computes_there_and_has_given_it_back_when_it_has_ended(self):
        done, errors = self.start(sys.executable, PROGRAM).communicate(timeout=120)
        self.assertEqual(
            [json.loads(line) for line in done.splitlines()],
            [{"name": "Flexrack Simulated GPU", "memory": 64 * MIB, "same": True}],
            errors,
        )
        self.assertEqual(self.leases(), [])

    def test_whoever_is_killed_nothing_stays_leased_and_the_next_one_gets_it(self):
        for killed in ("the kernel", "who holds its lease"):
            with self.subTest(killed):
                kernel = self.start("sh", "-c", "echo $$; exec sleep 600")
                pid = int(kernel.stdout.readline())
                self.assertEqual(self.leases(), [("held", "notebook n on a")])
                os.kill(pid if killed == "the kernel" else kernel.pid, signal.SIGKILL)
                kernel.wait(60)
                wait_until(lambda: self.leases() == [], what="the lease's end")
                wait_until(lambda: not Path(f"/proc/{pid}").exists(), what="the kernel's end")

    def test_where_nothing_is_free_it_does_not_start_and_says_why(self):
        self.daemon.ask("lease", devices=1, whole=True, owner="ada", purpose="all of it")
        kernel = self.start("true")
        self.assertRegex(kernel.communicate(timeout=60)[1], r"no GPU for a kernel: 1 GPU: here: .*; b: 1 GPU: ")
        self.assertNotEqual(kernel.returncode, 0)


if __name__ == "__main__":
    unittest.main()

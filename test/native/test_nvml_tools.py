"""NVIDIA's own nvidia-smi and nvtop, as Debian has them (non-free, contrib), with leased GPUs in software. Long tier:
FLEXRACK_LONG=1.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from servers import run
from test_nvml import Leased, Talk

MIB = 1 << 20


def from_debian(folder, packages):
    """Unpacks packages of the release this machine runs, from all parts of its own mirror. Raises CalledProcessError."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(REPO_URI) $(CODENAME)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    chosen = next(line.split() for line in targets if re.search(r" \w+$", line))
    (folder / "sources.list").write_text(f"deb {chosen[1]} {chosen[2]} contrib non-free\n")
    (folder / "lists" / "partial").mkdir(parents=True)
    words = [
        f"-oDir::Etc::sourcelist={folder}/sources.list",
        "-oDir::Etc::sourceparts=/dev/null",
        f"-oDir::State::lists={folder}/lists",
        f"-oDir::Cache={folder}/cache",
        "-oAPT::Sandbox::User=root",
    ]
    for command in (["update"], ["download", *packages]):
        subprocess.run(["apt-get", "-qq", *words, *command], cwd=folder, check=True, capture_output=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)


class Tools(Leased):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tools = Path(tempfile.mkdtemp(prefix="flexrack-nvidia-tools-"))
        cls.addClassCleanup(shutil.rmtree, tools)
        from_debian(tools, ["nvidia-smi", "nvtop"])
        cls.smi = next(tools.glob("usr/lib/nvidia/**/nvidia-smi"))
        cls.nvtop = tools / "usr" / "bin" / "nvtop"

    def setUp(self):
        self.attached = self.attach([self.serve(devices=2)], "tls")

    def ask(self, *words):
        status, out, errors = run([self.smi, *words], self.attached.env, seconds=60, preload=True)
        self.assertEqual(status, 0, out[-2000:] + errors[-2000:])
        return out

    def used(self):
        """A program that has 200 MiB of the first device, and a context on each."""
        program = Talk(self.python, ["work", 200 * MIB], self.attached.env)
        program.line()
        return program

    def test_the_picture_has_what_the_lease_has(self):
        with self.used():
            picture = self.ask()
        self.assertIn("CUDA Version: 13.0", picture)
        self.assertEqual(len(re.findall(r"Flexrack Simulated GPU", picture)), 2)
        self.assertEqual(re.findall(r"(\d+)MiB / +(\d+)MiB", picture), [("203", "1024"), ("3", "1024")])

    def test_a_query_for_scripts_says_what_cuda_says(self):
        fields = "index,name,uuid,memory.total,memory.used,compute_cap,temperature.gpu"
        rows = self.ask(f"--query-gpu={fields}", "--format=csv,noheader,nounits").splitlines()
        listed = re.findall(r"UUID: (GPU-[0-9a-f-]{36})", self.ask("-L"))
        self.assertEqual(len(listed), 2)
        for index, row in enumerate(rows):
            said = [part.strip() for part in row.split(",")]
            self.assertEqual(said, [str(index), "Flexrack Simulated GPU", listed[index], "1024", "0", "7.5", "[N/A]"])
        # Its processes are asked for by a table that is not public: it says so, and does not say that there are none.
        with self.used():
            apps = self.ask("--query-compute-apps=pid,used_memory", "--format=csv,noheader").splitlines()
        self.assertEqual(apps, ["[N/A], [N/A]"] * 2)

    def test_everything_it_knows_is_well_formed(self):
        log = ElementTree.fromstring(self.ask("-q", "-x"))
        self.assertEqual(log.findtext("attached_gpus"), "2")
        self.assertEqual([gpu.findtext("fb_memory_usage/total") for gpu in log.findall("gpu")], ["1024 MiB"] * 2)
        self.assertNotIn("Uninitialized", ElementTree.tostring(log, encoding="unicode"))

    def test_nvtop_draws_the_lease(self):
        with self.used():
            pid, terminal = pty.fork()
            if pid == 0:
                os.execve(
                    self.nvtop, ["nvtop"], {**self.attached.env, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
                )
            drawn, end = b"", time.monotonic() + 60
            while b"0.198Gi/1.000Gi" not in drawn and time.monotonic() < end:
                if select.select([terminal], [], [], 1)[0]:
                    drawn += os.read(terminal, 65536)
            os.write(terminal, b"q")
            os.close(terminal)
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        self.assertIn(b"0.198Gi/1.000Gi", drawn)


if os.environ.get("FLEXRACK_LONG") != "1":
    del Tools
    print("nvidia-smi and nvtop are NOT tried: FLEXRACK_LONG is not 1 (test_nvml_tools.py)", file=sys.stderr)

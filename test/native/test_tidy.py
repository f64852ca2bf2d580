"""clang-tidy over the sources of the daemon, eight files at a time as they are compiled: only with FLEXRACK_TIDY=1, as
it takes minutes (npm run test:long).
"""

import json
import os
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import locked_environment
from run import NATIVE

FOLDER = NATIVE / "build" / "tidy"
PARTS = ("wire", "server", "backend_opencl", "backend_cuda")
SECONDS = 1800


class Tidy(unittest.TestCase):
    def test_it_finds_nothing(self):
        program = Path(locked_environment("clang-tidy", NATIVE.parent / "scripts" / "tidy.txt")) / "bin" / "clang-tidy"
        # Only configured: nothing is compiled. What this preset generates is in native/gen.
        subprocess.run(
            ["cmake", "--preset", "release", "-B", FOLDER, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"],
            cwd=NATIVE,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        commands = json.loads((FOLDER / "compile_commands.json").read_text())
        files = sorted(
            {one["file"] for one in commands if any(f"/flexrack_{part}.dir/" in one["command"] for part in PARTS)}
        )
        self.assertGreater(len(files), len(PARTS))
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            found = "".join(workers.map(lambda file: self.findings(program, file), files))
        self.assertEqual(found, "")

    def findings(self, program, file):
        words = [
            program,
            "-p",
            FOLDER,
            "--quiet",
            f"--config-file={NATIVE / '.clang-tidy'}",
            "--extra-arg=-Wno-unknown-warning-option",
            file,
        ]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS)
        told = re.findall(r"^.*(?:warning|error): .*$", done.stdout, re.M)
        return "\n".join([*told, *([] if done.returncode == 0 or told else [done.stderr])])


if "FLEXRACK_TIDY" not in os.environ:
    del Tidy

"""What reads bytes of whoever connects: the kept inputs and mutations of them that a fixed seed chooses; with
FLEXRACK_FUZZ_SECONDS=N libFuzzer goes on from there, for so long a target. An input that breaks something is kept where
the test says.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fuzz_corpus
from servers import BUILD, COMMON

NATIVE = Path(__file__).resolve().parent.parent.parent / "native"
FOLDER = BUILD.parent / "fuzz"
SECONDS = int(os.environ.get("FLEXRACK_FUZZ_SECONDS", 0))
MUTATIONS = 1000
SEED = int(os.environ.get("FLEXRACK_SEED", 1))
# What is looked for is in sequences of frames, not in their length.
LONGEST = {"dispatch_fuzz": 512, "cuda_dispatch_fuzz": 512}
# Memory is taken and given back all the time: what the sanitizer keeps of each piece, and how many it keeps, is most of
# the time otherwise.
QUICK = {**COMMON, "ASAN_OPTIONS": COMMON["ASAN_OPTIONS"] + ":malloc_context_size=6:quarantine_size_mb=32"}
TARGETS = sorted(path.stem for path in (NATIVE / "test" / "fuzz").glob("*_fuzz.cpp"))


def compiler():
    """clang++ under whatever name it has here, newest last; None where there is none."""
    names = ["clang++", *(f"clang++-{version}" for version in range(22, 13, -1))]
    return next((name for name in names if shutil.which(name)), None)


class Fuzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if SECONDS == 0:
            return
        if compiler() is None:
            raise unittest.SkipTest("libFuzzer needs clang")
        words = [
            "cmake",
            "--preset",
            "fuzz",
            "-B",
            FOLDER,
            f"-DCMAKE_CXX_COMPILER={compiler()}",
            f"-DCMAKE_C_COMPILER={compiler().replace('++', '')}",
        ]
        subprocess.run(words, cwd=NATIVE, check=True, stdout=sys.stderr)
        subprocess.run(
            ["cmake", "--build", FOLDER, "--parallel", "--target", *TARGETS], cwd=NATIVE, check=True, stdout=sys.stderr
        )

    def fuzz(self, target):
        found = Path(tempfile.mkdtemp(prefix=f"flexrack-{target}-"))
        new = found / "corpus"
        new.mkdir()
        kept = found / "kept"
        fuzz_corpus.unpack(target, kept)
        longest = LONGEST.get(target, 4096)
        if SECONDS > 0:
            words = [
                FOLDER / "fuzz" / target,
                f"-max_total_time={SECONDS}",
                f"-max_len={longest}",
                "-timeout=20",
                "-rss_limit_mb=4096",
                f"-artifact_prefix={found}/",
                new,
                kept,
            ]
        else:
            words = [BUILD / "fuzz" / target, MUTATIONS, SEED, longest, kept]
        env = {**os.environ, **QUICK, "FLEXRACK_LAST_INPUT": str(found / "last")}
        done = subprocess.run(
            [str(word) for word in words],
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS * 3 + 300,
        )
        self.assertEqual(done.returncode, 0, f"inputs are in {found}\n{done.stdout[-500:]}{done.stderr[-5000:]}")
        print(
            f"    {target}: {((done.stdout + done.stderr).strip().splitlines() or ['nothing said'])[-1]}",
            file=sys.stderr,
        )
        shutil.rmtree(found)


for name in TARGETS:
    setattr(Fuzz, f"test_{name}_finds_nothing", lambda self, target=name: self.fuzz(target))

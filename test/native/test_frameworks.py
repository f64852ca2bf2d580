"""Frameworks' own wheels, unchanged, on a GPU in software: natively and attached, every value beside the CPU's.

A few that are fetched and run fast are in the gate, one for each way that code comes to a driver: PTX in NVIDIA's
libraries, made by NVRTC, made by Triton. Of the ways to the GPU each has there what it tells most of: as every value is
beside the CPU's, not all three. The others are gigabytes, and minutes each: FLEXRACK_LONG=1 (npm run test:long) tries
all in every way. numba and tinygrad are in the gate, in modules of their own. All run with the build that users get.
"""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "frameworks"))
from compare import FRAMEWORKS, each_way, named  # noqa: E402
from wheels import chosen, differences, kept  # noqa: E402

IS_LONG = os.environ.get("FLEXRACK_LONG") == "1"
# In which ways. ONNX Runtime's libraries are gigabytes, which are looked through and loaded each time.
GATE = {"onnxruntime": ("shm",), "cupy": ("natively", "tls"), "triton": ("natively", "shm")}
# What a lock file has does not change by itself, so the long tests look through the large ones.
SMALL = ("cupy", "triton")
# In modules of their own.
ELSEWHERE = ("numba", "tinygrad")


class Frameworks(unittest.TestCase):
    def compare(self, name, words):
        if FRAMEWORKS[name].lacks():
            self.skipTest(f"{FRAMEWORKS[name].lacks()} is not installed: apt-get install {FRAMEWORKS[name].lacks()}")
        natively = None
        for way, code, stops, _, text in each_way(FRAMEWORKS[name], words=words, ways=None if IS_LONG else GATE[name]):
            with self.subTest(way=way):
                self.assertEqual(code, 0, text)
                # What is attached computes the same values, each beside the CPU's.
                natively = natively or stops
                self.assertEqual(named(stops), named(natively))

    def test_wheels_carry_the_ptx_that_they_did(self):
        for framework in chosen([] if IS_LONG else SMALL):
            with self.subTest(framework=framework.name):
                self.assertEqual(
                    differences(framework),
                    [],
                    "what a lock file has now carries other code: python3 test/native/frameworks/wheels.py --write",
                )
        self.assertTrue(
            any("9.0: " in line.split("|")[4] for line in kept("onnxruntime")), "ONNX Runtime's table has no PTX"
        )


def add(name, words):
    setattr(
        Frameworks,
        f"test_{name}{''.join('_' + word.replace('-', '_') for word in words)}",
        lambda self: self.compare(name, words),
    )


for one in FRAMEWORKS.values():
    if IS_LONG or one.name in GATE:
        for part in one.parts:
            add(one.name, part)
if not IS_LONG:
    print(
        f"{', '.join(name for name in FRAMEWORKS if name not in (*GATE, *ELSEWHERE))} are NOT tried: FLEXRACK_LONG is not 1 (test_frameworks.py)",
        file=sys.stderr,
    )

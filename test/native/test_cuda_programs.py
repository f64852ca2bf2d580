"""CUDA programs built by nvcc, with the static and the shared runtime library, on the GPU in software as their own
driver.
"""

import os
import unittest

from cuda_programs import build
from servers import BUILD, COMMON, run

DRIVER = BUILD / "drivers" / "sim"


def sim_env(**settings):
    """The environment in which a program's libcuda.so.1 is the GPU in software; `devices`, `memory` and so on are
    FLEXRACK_SIM_DEVICES, ...
    """
    env = {
        **os.environ,
        **COMMON,
        "LD_LIBRARY_PATH": str(DRIVER),
        **{f"FLEXRACK_SIM_{name.upper()}": str(value) for name, value in settings.items()},
    }
    env.pop("FLEXRACK_LEASES", None)
    return env


class CudaPrograms(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.programs = build()

    def passes(self, program, env, *arguments):
        """Its output; it fails with the lines that say why."""
        code, out, err = run([program, *arguments], env, preload=True)
        wrong = [line for line in out.splitlines() if not line.startswith("ok: ")]
        self.assertEqual((code, out.splitlines()[-1:]), (0, ["PASS"]), "\n".join([*wrong[-20:], err[-2000:]]))
        return out

    def test_every_program_passes_with_both_runtime_libraries(self):
        for name, made in self.programs.items():
            with self.subTest(program=name):
                outputs = [self.passes(program, sim_env()) for program in made.values()]
                self.assertEqual(outputs[0], outputs[1])

    def test_64_devices(self):
        self.assertIn("64 devices\n", self.passes(self.programs["peer"]["shared"], sim_env(devices=64)))

    def test_threads_have_devices_of_their_own(self):
        self.passes(self.programs["two_threads"]["static"], sim_env(devices=3))

    def test_memory_is_what_was_chosen(self):
        out = self.passes(self.programs["memory_cap"]["static"], sim_env(memory="300MiB"))
        self.assertIn(f"total {300 << 20}, ", out)

    def test_newer_devices_take_the_same_code(self):
        for capability in ("8.0", "9.0", "12.0"):
            self.passes(self.programs["driver_api"]["static"], sim_env(capability=capability))
            self.passes(self.programs["reduction"]["static"], sim_env(capability=capability))

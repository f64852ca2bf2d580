"""What a machine has of GPU drivers: found by trying, whatever a driver does, and said in words."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from flexrack_node.gpu import daemon, devices, drivers

CUDA = """
int cuInit(unsigned flags) { (void)flags; return %s; }
int cuDeviceGetCount(int* count) { *count = %s; return 0; }
int cuGetErrorName(int error, const char** text) { *text = error == 100 ? "CUDA_ERROR_NO_DEVICE" : 0; return 0; }
"""
OPENCL = """
#include <string.h>
int clGetPlatformIDs(unsigned most, void** list, unsigned* count) { if (count) *count = 2; for (unsigned i = 0; i < most; ++i) list[i] = list + i; return 0; }
int clGetPlatformInfo(void* platform, unsigned what, unsigned long size, char* into, unsigned long* length) {
  (void)platform; (void)what; (void)size; (void)length; static int asked; strcpy(into, asked++ ? "Flexrack" : "Somebody's"); return 0;
}
int clGetDeviceIDs(void* platform, unsigned long type, unsigned most, void** list, unsigned* count) { (void)platform; (void)type; (void)most; (void)list; *count = 3; return 0; }
"""


class GpuDriversTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-drivers-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {"LD_LIBRARY_PATH": str(self.folder)}

    def library(self, name: str, text: str) -> Path:
        path = self.folder / name
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)], input=text, text=True, check=True)
        return path

    def test_cuda_with_a_device_is_enough(self):
        self.library("libcuda.so.1", CUDA % ("0", "2"))
        self.assertEqual(drivers.look(self.env), {"cuda": {"found": True, "why": "libcuda.so.1 has 2 devices"}})

    def test_opencl_is_looked_for_where_cuda_has_no_device_and_ours_do_not_count(self):
        self.library("libcuda.so.1", CUDA % ("100", "0"))
        self.library("libOpenCL.so.1", OPENCL)
        self.assertEqual(
            drivers.look(self.env),
            {
                "cuda": {"found": False, "why": "libcuda.so.1 says CUDA_ERROR_NO_DEVICE"},
                "opencl": {"found": True, "why": "OpenCL has 3 devices"},
            },
        )

    def test_a_driver_that_crashes_or_is_none_is_said(self):
        self.library("libcuda.so.1", CUDA % ("*(volatile int*)8", "0"))
        self.assertEqual(
            drivers.ask("cuda", self.env), {"found": False, "why": "libcuda.so.1 crashes when it is asked for devices"}
        )
        (self.folder / "libcuda.so.1").write_text("no library")
        self.assertIn("libcuda.so.1 cannot be loaded", drivers.ask("cuda", self.env)["why"])

    def test_flexracks_own_driver_is_nothing_to_serve(self):
        own = self.library("libflexrack-cuda-12ab.so", CUDA % ("0", "4"))
        os.symlink(own, self.folder / "libcuda.so.1")
        self.assertEqual(
            drivers.ask("cuda", self.env),
            {"found": False, "why": "libcuda.so.1 is flexrack's own, for GPUs of other machines"},
        )

    def test_the_daemons_command_line_has_the_libraries_beside_it_and_the_settings(self):
        given = {
            "backend": "sim",
            "driver": "../libflexrack-sim-1.so",
            "nvml": "/etc/libflexrack-sim-nvml-2.so",
            "sim": {"memory": 4096, "devices": 2},
        }
        self.assertEqual(
            devices.backend_options(Path("/gpu"), given),
            [
                "--backend",
                "sim",
                "--driver",
                "/gpu/program/libflexrack-sim-1.so",
                "--nvml",
                "/gpu/program/libflexrack-sim-nvml-2.so",
                "--sim-devices",
                "2",
                "--sim-memory",
                "4096",
            ],
        )
        self.assertEqual(devices.backend_options(Path("/gpu"), {"backend": "opencl"}), ["--backend", "opencl"])

    def test_a_newer_daemon_keeps_its_own_files_and_the_drivers_of_programs(self):
        ours = ["flexrack-gpud-2", "libflexrack-sim-2.so", "libflexrack-sim-nvml-2.so"]
        others = ["libflexrack-cuda-1.so", "flexrack-lease-keeper-1"]
        (self.folder / "program").mkdir()
        for name in [*ours, *others, "flexrack-gpud-1", "libflexrack-sim-1.so", "libflexrack-sim-nvml-1.so"]:
            (self.folder / "program" / name).touch()
        daemon.tidy(self.folder, dict(zip(("program", "driver", "nvml"), ours)))
        self.assertEqual(sorted(os.listdir(self.folder / "program")), sorted([*ours, *others]))
        daemon.tidy(self.folder, {"program": ours[0]})
        self.assertEqual(sorted(os.listdir(self.folder / "program")), sorted([ours[0], *others]))

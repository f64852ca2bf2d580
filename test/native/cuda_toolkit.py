"""nvcc 13 and what it needs: the machine's own where there is one, else from NVIDIA's packages on PyPI."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from environments import environment

# What one compiles with, of the same release; headers of cccl are included by those of half precision.
PACKAGES = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
]


class Toolkit:
    """`nvcc` is its path, `libraries` the folder of libcudart_static.a and libcudart.so.13, `include` that of cuda.h,
    `version` its own words.
    """

    def __init__(self, nvcc):
        self.nvcc = Path(nvcc)
        said = subprocess.run([self.nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        self.version = said.strip().splitlines()[-1]
        if not re.search(r"release 13\.", said):
            raise RuntimeError(f"{nvcc} is not of CUDA 13: {self.version}")
        # nvcc may be a link or a script elsewhere: it tells itself where its parts are.
        told = subprocess.run(
            [self.nvcc, "--dryrun", "-x", "cu", "-c", os.devnull], capture_output=True, text=True, check=True
        ).stderr
        top = Path(re.search(r"^#\$ TOP=(.*)$", told, re.MULTILINE).group(1).strip('" ')).resolve()
        folders = [top / name for name in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")]
        self.libraries = next((folder for folder in folders if (folder / "libcudart_static.a").exists()), None)
        self.include = top / "include"
        if self.libraries is None or not (self.libraries / "libcudart.so.13").exists():
            raise RuntimeError(f"{top} has no libcudart of CUDA 13")


def installed():
    """The machine's own, or None: CUDA_HOME or CUDA_PATH, then the usual place, then the path."""
    named = [Path(os.environ[name], "bin", "nvcc") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for nvcc in [*named, Path("/usr/local/cuda/bin/nvcc"), shutil.which("nvcc")]:
        if nvcc and Path(nvcc).exists():
            try:
                return Toolkit(nvcc)
            except (RuntimeError, OSError, subprocess.CalledProcessError):
                continue  # of another version, or only part of one
    return None


def from_packages():
    """From PyPI. Raises CalledProcessError where they cannot be had."""

    def finish(folder):
        top = next(folder.glob("lib/python3*/site-packages/nvidia/cu13"))
        (top / "lib64").symlink_to("lib")
        (folder / "toolkit").symlink_to(top.relative_to(folder))

    return Toolkit(environment("cuda-toolkit", PACKAGES, finish) / "toolkit" / "bin" / "nvcc")


def toolkit():
    return installed() or from_packages()

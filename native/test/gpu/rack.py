"""A daemon for the GPUs of this machine, or for GPUs in software, and what a program needs to be natively on them or
attached to them.
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent.parent / "test" / "native"))
from servers import BUILD, COMMON, Attached, Daemon  # noqa: E402


class GpuDaemon(Daemon):
    """`backend` is cuda or sim; `options` are more of flexrack-gpud's."""

    def __init__(self, backend, devices=1, options=(), **more):
        self.choice = ["--backend", backend, *(["--sim-devices", str(devices)] if backend == "sim" else []), *options]
        super().__init__(devices=devices, **more)

    def start(self):
        if "--backend" not in self.command:
            self.command += self.choice
        super().start()


class GpuAttached(Attached):
    """A program in `env` finds libcuda.so.1 and libnvidia-ml.so.1 that forward."""

    def __init__(self, daemons, transport="auto", **more):
        super().__init__(daemons, transport, **more)
        self.env["LD_LIBRARY_PATH"] = search_path(BUILD / "drivers" / "cuda")


def search_path(*folders):
    return ":".join([*map(str, folders), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


def native_env(backend, devices=1):
    """The environment in which a program is on the GPU itself: the machine's, or the one in software as its driver."""
    env = {**os.environ, **COMMON}
    env.pop("FLEXRACK_LEASES", None)
    if backend == "sim":
        env |= {"LD_LIBRARY_PATH": search_path(BUILD / "drivers" / "sim"), "FLEXRACK_SIM_DEVICES": str(devices)}
    return env


def gpu_names():
    """Of the machine's own GPUs, by its nvidia-smi; none where that is missing."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=60
        )
    except OSError:
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []

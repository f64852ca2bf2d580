"""hashcat's CUDA backend: NVRTC makes PTX of its kernels, thousands of lines each, and the words it finds are those
that were hashed.
"""

import glob
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import nvidia
from stops import Tour

SECONDS = 2000
tour = Tour()


def crack(folder, kind, digest):
    """What it finds by trying all words of three letters."""
    nvrtc = next(
        Path(one).parent
        for place in nvidia.__path__
        for one in glob.glob(f"{place}/*/lib/libnvrtc.so.*")
        if ".alt." not in one
    )
    link = Path(folder) / "libnvrtc.so"
    if not link.exists():
        link.symlink_to(next(one for one in nvrtc.glob("libnvrtc.so.*") if ".alt." not in one.name))
    env = {
        **os.environ,
        "HOME": folder,
        "XDG_CACHE_HOME": f"{folder}/cache",
        "XDG_DATA_HOME": f"{folder}/data",
        "LD_LIBRARY_PATH": f"{os.environ['LD_LIBRARY_PATH']}:{folder}:{nvrtc}",
    }
    done = subprocess.run(
        [
            "hashcat",
            "--backend-ignore-opencl",
            "--self-test-disable",
            "--potfile-disable",
            "--force",
            "--quiet",
            "-m",
            str(kind),
            "-a",
            "3",
            digest,
            "?l?l?l",
        ],
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    found = [line.rpartition(":")[2] for line in done.stdout.splitlines() if line.startswith(f"{digest}:")]
    return found, f"ended with {done.returncode}: {done.stdout[-1500:]} {done.stderr[-1500:]}"


with tempfile.TemporaryDirectory() as folder:
    for name, kind in (("md5", 0), ("sha256", 1400)):
        found, said = crack(folder, kind, hashlib.new(name, b"zig").hexdigest())
        tour.says(f"{name} is found", found == ["zig"], said)
tour.end()

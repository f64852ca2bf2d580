"""Fetches a wheel of uv, or of another program, with pip: run by an interpreter of a node, or of the caller's machine.
`python3 fetch_uv.py FOLDER MACHINE [PLATFORM] < LOCK`

FOLDER gets one file, uv-*.whl, for Linux on MACHINE (x86_64, aarch64), and for PLATFORM (musllinux_1_1, on which uv's
is linked statically; manylinux_2_28). LOCK is a requirements file with one pin and its hashes. pip is asked as it is
set up there: index, proxy, certificates. Where Python came without pip (Debian's python3-venv), the wheel of pip that
ensurepip has is run from its file.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import List, Optional


def main(folder: str, machine: str, platform: str = "musllinux_1_1") -> int:
    pip = pip_command()
    if pip is None:
        print("Python has neither pip nor ensurepip", file=sys.stderr)
        return 1
    lock = Path(folder, "uv-lock.txt")
    lock.write_bytes(sys.stdin.buffer.read())
    words = [
        *pip,
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-color",
        "--progress-bar",
        "off",
        "--no-deps",
        "--no-cache-dir",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--platform",
        f"{platform}_{machine}",
        "--dest",
        folder,
        "--requirement",
        str(lock),
    ]
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_CONSTRAINT")
    }
    environment["PIP_USER"] = "0"
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL)
    lock.unlink()
    return done.returncode


def pip_command() -> Optional[List[str]]:
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    try:
        import ensurepip
    except ImportError:
        return None
    for place in (getattr(ensurepip, "_WHEEL_PKG_DIR", None), Path(str(ensurepip.__file__)).parent / "_bundled"):
        for wheel in sorted(Path(place).glob("pip-*.whl")) if place else []:
            return [sys.executable, str(wheel / "pip")]
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))

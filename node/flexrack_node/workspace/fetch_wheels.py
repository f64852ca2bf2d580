"""Fetches wheels with pip, for other machines: run by the caller's interpreter. `python3 fetch_wheels.py FOLDER MACHINE
PYTHON < LOCK`

FOLDER gets a file for every line of LOCK, a requirements file with a pin and hashes for each package, that counts on
Linux on MACHINE (x86_64, aarch64) under PYTHON (3.11). pip is asked as it is set up here. It evaluates markers for
itself, not for others, so that is done before.
"""

import os
import re
import runpy
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Dict, List

# The newest C library that wheels may ask for: that of Debian 10, Ubuntu 20.04 and RHEL 8.
GLIBC_MINOR = 28


def main(folder: str, machine: str, python: str) -> int:
    # This folder has a module called pip, too.
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]
    pip = runpy.run_path(str(Path(__file__).with_name("fetch_uv.py")))["pip_command"]()
    if pip is None:
        print("Python has neither pip nor ensurepip", file=sys.stderr)
        return 1
    if pip[-1] != "pip":
        sys.path.insert(0, str(Path(pip[-1]).parent))  # the wheel of ensurepip
    lock = sys.stdin.read()
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_CONSTRAINT")
    }
    environment.update(PIP_USER="0", PIP_NO_DEPS="1")
    # A marker may tell Python's micro versions apart, and nodes may have any.
    for text in dict.fromkeys(counting(lock, machine, python, micro) for micro in ("0", "99")):
        if not any(line.strip() and not line.startswith("-") for line in text.splitlines()):
            continue
        with tempfile.TemporaryDirectory() as temp:
            file = Path(temp, "requirements.txt")
            file.write_text(text)
            words = [
                *pip,
                "download",
                "--disable-pip-version-check",
                "--no-input",
                "--no-color",
                "--progress-bar",
                "off",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--require-hashes",
                "--implementation",
                "cp",
                "--python-version",
                python,
                *platforms(machine),
                "--dest",
                folder,
                "--requirement",
                str(file),
            ]
            done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return done.returncode
    return 0


def platforms(machine: str) -> List[str]:
    names = [f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC_MINOR, 4, -1)] + [f"manylinux2014_{machine}"]
    names += [f"manylinux2010_{machine}", f"manylinux1_{machine}"] if machine == "x86_64" else []
    return [word for name in [*names, f"linux_{machine}"] for word in ("--platform", name)]


def counting(lock: str, machine: str, python: str, micro: str) -> str:
    """The requirements that count there, without their markers; and the options."""
    parse = import_module("pip._vendor.packaging.requirements").Requirement  # pip's own reader of markers
    target: Dict[str, Any] = {
        "implementation_name": "cpython",
        "implementation_version": f"{python}.{micro}",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "platform_release": "",
        "platform_version": "",
        "python_full_version": f"{python}.{micro}",
        "python_version": python,
        "sys_platform": "linux",
        "extra": "",
    }
    found = []
    for line in re.sub(r"\\\r?\n", " ", lock).splitlines():
        text = re.sub(r"(^|\s)#.*$", "", line).strip()
        if text.startswith("-") or not text:
            found.append(text)
            continue
        name, *hashes = re.split(r"\s+(?=--hash)", text)
        requirement = parse(name)
        if requirement.marker is None or requirement.marker.evaluate(target):
            requirement.marker = None
            found.append(" ".join([str(requirement), *hashes]))
    return "\n".join(found) + "\n"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))

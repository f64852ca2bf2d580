"""What a Python interpreter is, as far as an environment made from it depends on that. Also run by other interpreters."""

import json
import os
import platform
import sys
import sysconfig
from importlib.util import find_spec
from typing import Any, Dict


def facts() -> Dict[str, Any]:
    """`venv`: whether it can make virtual environments with pip (Debian ships that apart, in python3-venv)."""
    return {
        "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
        "version": platform.python_version(),
        "tag": sys.implementation.cache_tag,
        "platform": sysconfig.get_platform(),
        "libc": "".join(platform.libc_ver()),
        "venv": bool(find_spec("venv") and find_spec("ensurepip")),
    }


if __name__ == "__main__":
    print(json.dumps(facts()))

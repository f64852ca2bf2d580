"""Container runtimes of this machine. Their daemons are not asked: that needs rights that a user may lack."""
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List

from flexrack_node.base.commands import run_quick

RUNTIMES = ("docker", "podman", "apptainer", "singularity", "enroot", "nerdctl")


def containers() -> List[Dict[str, Any]]:
    """[{name, path, version}], without the version where the program does not tell it."""
    found = {name: path for name in RUNTIMES for path in [shutil.which(name)] if path}
    if not found:
        return []
    with ThreadPoolExecutor(len(found)) as pool:
        return [{"name": name, "path": found[name], **reported} for name, reported in zip(found, pool.map(version_of, found, found.values()))]


def version_of(name: str, path: str) -> Dict[str, str]:
    try:
        reported = run_quick([path, "version"] if name == "enroot" else [path, "--version"], seconds=5)
    except (RuntimeError, OSError, subprocess.TimeoutExpired):
        return {}
    return parse_version(reported)


def parse_version(text: str) -> Dict[str, str]:
    """`Docker version 27.3.1, build ce12230`, `podman version 4.3.1`, `apptainer version 1.3.4-1.el9`, `3.5.0`."""
    found = re.search(r"\b\d+\.\d+(?:\.\d+)?(?:[-~+][\w.~+-]+)?", text)
    return {"version": found.group(0)} if found else {}

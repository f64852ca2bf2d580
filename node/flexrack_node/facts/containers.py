"""Container runtimes of this machine. Their daemons are not asked: that needs rights that a user may lack."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.commands import run_quick

if TYPE_CHECKING:
    from flexrack_node.schema.facts import ContainerFact

RUNTIMES = ("docker", "podman", "apptainer", "singularity", "enroot", "nerdctl")


def containers() -> "List[ContainerFact]":
    """Without the version where the program does not tell it."""
    found = {name: path for name in RUNTIMES for path in [shutil.which(name)] if path}
    if not found:
        return []
    with ThreadPoolExecutor(len(found)) as pool:
        return [
            fact_of(name, found[name], version)
            for name, version in zip(found, pool.map(version_of, found, found.values()))
        ]


def fact_of(name: str, path: str, version: Optional[str]) -> "ContainerFact":
    return {"name": name, "path": path, "version": version} if version else {"name": name, "path": path}


def version_of(name: str, path: str) -> Optional[str]:
    try:
        reported = run_quick([path, "version"] if name == "enroot" else [path, "--version"], seconds=5)
    except (RuntimeError, OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(reported)


def parse_version(text: str) -> Optional[str]:
    """`Docker version 27.3.1, build ce12230`, `podman version 4.3.1`, `apptainer version 1.3.4-1.el9`, `3.5.0`."""
    found = re.search(r"\b\d+\.\d+(?:\.\d+)?(?:[-~+][\w.~+-]+)?", text)
    return found.group(0) if found else None

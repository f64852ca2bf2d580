"""Where cgroups are on this machine, and in which this process is: cgroups(7), proc(5)."""

from pathlib import Path
from typing import Dict, List, Tuple


def mounts() -> List[Tuple[Path, str, List[str]]]:
    """(where, cgroup or cgroup2, options: v1's controllers are among them) of every cgroup file system, in the order of
    the kernel.
    """
    found: List[Tuple[Path, str, List[str]]] = []
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return []
    for line in lines:
        before, _, after = line.partition(" - ")
        words = after.split(" ")
        if words[0] in ("cgroup", "cgroup2"):
            found.append((Path(before.split()[4]), words[0], words[-1].split(",")))
    return found


def own() -> Dict[str, str]:
    """Path of this process's cgroup by controller, "" for v2."""
    found: Dict[str, str] = {}
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                found[controller] = path
    except (OSError, ValueError):
        pass
    return found

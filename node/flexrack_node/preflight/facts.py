"""What of this node decides whether a training runs: limits, shared memory, disks, ports, packages, RDMA ports, GPUs,
what is left of old runs.

Reads only. A part that cannot be measured is in `missing` with the reason; None stands for "no limit".
"""

import os
import re
import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional

from flexrack_node.base.channel import Channel

if TYPE_CHECKING:
    from flexrack_node.schema.preflight import (
        DiskState,
        Limit,
        NodeState,
        PortState,
        PreflightStart,
        ProcessLimits,
        RdmaState,
        SharedMemory,
        Versions,
    )

GPU_SECONDS = 6.0  # for nvidia-smi, which takes seconds where the driver is not kept loaded
_CAP_SYS_RESOURCE, _CAP_IPC_LOCK = 24, 14  # linux/capability.h
_CHECKS: Dict[str, List[str]] = {  # which measurements a check needs
    "versions": ["versions", "gpus"],
    "limits": ["limits"],
    "shm": ["shm"],
    "disk": ["disks"],
    "ports": ["ports"],
    "rdma": ["rdma", "limits"],
    "gpus": ["gpus", "versions"],
    "leftovers": ["leftovers"],
}


def measure(given: "PreflightStart", channel: Channel) -> "NodeState":
    """The parts that the checks need."""
    from flexrack_node.facts.facts import measure_all
    from flexrack_node.preflight.gpus import gpus
    from flexrack_node.preflight.leftovers import leftovers

    parts: Dict[str, Callable[[], Any]] = {
        "limits": limits,
        "shm": shared_memory,
        "disks": lambda: disks(channel.root),
        "ports": ports,
        "versions": lambda: versions(channel.root, given.get("project"), given.get("mpi", False)),
        "rdma": rdma,
        "gpus": gpus,
        "leftovers": lambda: leftovers(channel.root),
    }
    wanted = {part for check in given["checks"] for part in _CHECKS.get(check, [])}
    found: NodeState = measure_all(
        {name: part for name, part in parts.items() if name in wanted}, seconds=GPU_SECONDS + 1
    )
    return found


def limits() -> "ProcessLimits":
    """What processes started from here inherit; bytes and numbers."""
    processes = limit(resource.RLIMIT_NPROC)
    soft = processes[0]
    left = [] if soft is None or has_capability(_CAP_SYS_RESOURCE) else [soft - own_tasks()]
    return {
        "open_files": limit(resource.RLIMIT_NOFILE),
        "locked": limit(resource.RLIMIT_MEMLOCK),
        "processes": processes,
        "tasks_left": min(left + cgroup_tasks_left(), default=None),
        "may_lock": has_capability(_CAP_IPC_LOCK),
    }


def limit(kind: int) -> "Limit":
    """[soft, hard]"""
    return [None if one == resource.RLIM_INFINITY else one for one in resource.getrlimit(kind)]


def own_tasks() -> int:
    """Processes and threads of this user: what RLIMIT_NPROC counts."""
    count = 0
    for path in processes():
        try:
            if path.stat().st_uid == os.getuid():
                count += len(os.listdir(path / "task"))
        except OSError:
            continue
    return count


def cgroup_tasks_left() -> List[int]:
    """Of this process's cgroup and those above it that limit the number of tasks."""
    found: List[int] = []
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        if controllers and "pids" not in controllers.split(","):
            continue
        base = Path("/sys/fs/cgroup", "pids" if controllers else "")
        folder = base / path.lstrip("/")
        for one in [folder, *folder.parents]:
            if one != base and base not in one.parents:
                break
            most, now = read(one / "pids.max").strip(), read(one / "pids.current").strip()
            if most.isdigit() and now.isdigit():
                found.append(int(most) - int(now))
    return found


def has_capability(number: int) -> bool:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)", read("/proc/self/status"), re.MULTILINE)
    return bool(match and int(match.group(1), 16) >> number & 1)


def shared_memory() -> "Optional[SharedMemory]":
    import shutil

    if not os.path.isdir("/dev/shm"):
        return None
    usage = shutil.disk_usage("/dev/shm")
    return {"total": usage.total, "free": usage.free}


def disks(root: Path) -> "List[DiskState]":
    """The file systems of flexrack's folder and of temporary files; no `files`: they are not counted."""

    import tempfile

    found: Dict[int, DiskState] = {}
    for path in (root, Path(tempfile.gettempdir())):
        state = os.statvfs(path)
        found.setdefault(
            os.stat(path).st_dev,
            {
                "path": str(path),
                "total": state.f_blocks * state.f_frsize,
                "free": state.f_bavail * state.f_frsize,
                "files": state.f_files,
                "free_files": state.f_favail,
            },
        )
    return list(found.values())


def ports() -> "PortState":
    """Ports for outgoing connections, and how many of them have a socket."""
    low, high = (int(word) for word in read("/proc/sys/net/ipv4/ip_local_port_range").split())
    used = set()
    for table in ("tcp", "tcp6"):
        for line in read(f"/proc/net/{table}").splitlines()[1:]:
            port = int(line.split()[1].rsplit(":", 1)[1], 16)
            if low <= port <= high:
                used.add(port)
    return {"range": [low, high], "used": len(used)}


def versions(root: Path, project: Optional[str], with_mpi: bool) -> "Versions":
    import shutil

    found = environment(root, project) if project else None
    versions: Versions = {**found} if found else {"packages": {}}
    if with_mpi:
        from flexrack_node.rank.mpi import version_of

        versions["mpi"] = version_of(shutil.which("mpirun"))
    return versions


def environment(root: Path, project: str) -> "Optional[Versions]":
    """The project's environment here, from the names of its metadata folders; None where it has none."""
    from flexrack_node.base.stored import read as read_stored
    from flexrack_node.workspace.build import READY
    from flexrack_node.workspace.folder import WorkspaceFolder

    place = WorkspaceFolder(root, project)
    noted = read_stored("workspace.environment", place.environment)
    if not noted:
        return None
    folder = Path(noted["path"])
    packages: Dict[str, str] = {}
    for path in folder.glob("lib/python3*/site-packages/*.dist-info"):
        name, _, version = path.name[: -len(".dist-info")].partition("-")
        packages[re.sub(r"[-_.]+", "-", name).lower()] = version
    return {
        "environment": noted["hash"],
        "python": (read_stored("environment.ready", folder / READY) or noted).get("python"),
        "packages": packages,
    }


def rdma(base: Path = Path("/sys/class/infiniband")) -> "List[RdmaState]":
    """Every port of every RDMA device."""
    found: List[RdmaState] = []
    for folder in sorted(base.glob("*/ports/*")):
        state, physical = (read(folder / name).strip().rpartition(": ")[2] for name in ("state", "phys_state"))
        found.append(
            {
                "device": folder.parts[-3],
                "port": folder.name,
                "state": state,
                "physical": physical,
                "layer": read(folder / "link_layer").strip(),
                "rate": read(folder / "rate").strip(),
            }
        )
    return found


def processes() -> Iterator[Path]:
    return (Path("/proc", name) for name in os.listdir("/proc") if name.isdigit())


def read(path: Any) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

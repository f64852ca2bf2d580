"""node.facts: what this machine is and has. Reads only; every part that cannot be read is left out, none fails the
rest.
"""

import os
import platform
import resource
import shutil
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.sysfs import cpu_model, read

if TYPE_CHECKING:
    from flexrack_node.schema.facts import (
        CpuFact,
        DiskFact,
        GpuDaemonFact,
        GpuFact,
        LimitFact,
        LimitFacts,
        LinkFacts,
        MemoryFact,
        NodeFacts,
        PythonFact,
    )
    from flexrack_node.schema.node import FactsQuestion


def measure(given: "Optional[FactsQuestion]", channel: Channel) -> "NodeFacts":
    """{peers: {name: host}, ports: [[address, port]]}: facts; the address that each peer is reached from; ports in use."""
    given = given or {}
    from flexrack_node.facts.containers import containers
    from flexrack_node.facts.gpus import gpus
    from flexrack_node.facts.infiniband import infiniband_ports
    from flexrack_node.facts.network import interfaces, routes_to, taken_ports
    from flexrack_node.facts.nics import nics
    from flexrack_node.facts.numa import numa_nodes
    from flexrack_node.facts.slurm import slurm

    found_gpus = once(gpus)  # nvidia-smi takes seconds where nothing keeps the driver loaded
    parts: Dict[str, Callable[[], Any]] = {
        "hostname": socket.gethostname,
        "user": user_name,
        "home": lambda: os.path.expanduser("~"),
        "root": lambda: str(channel.root),
        "os": os_name,
        "kernel": platform.release,
        "architecture": platform.machine,
        "python": python,
        "cpu": cpu,
        "numa": numa_nodes,
        "memory": memory,
        "disk": lambda: disk(channel.root),
        "limits": limits,
        "interfaces": interfaces,
        "nics": nics,
        "infiniband": infiniband_ports,
        "gpus": found_gpus,
        "links": lambda: wired(found_gpus),
        "gpu_daemon": lambda: gpu_daemon(channel),
        "containers": containers,
        "slurm": slurm,
        "routes": lambda: routes_to(given.get("peers") or {}, interfaces()),
        "taken_ports": lambda: taken_ports(given.get("ports") or []),
    }
    facts: NodeFacts = measure_all(parts, seconds=float(given.get("seconds") or 15))
    facts["clock"] = time.time()  # last: the caller compares it with the middle of the call
    return facts


def measure_all(parts: Dict[str, Callable[[], Any]], seconds: float) -> Any:
    """Each part in a thread of its own: a hanging nvidia-smi or name server must not hold up the rest."""
    facts: Dict[str, Any] = {}
    missing: Dict[str, str] = {}

    def run(name: str, part: Callable[[], Any]) -> None:
        try:
            facts[name] = part()
        except Exception as error:  # a fact that cannot be had is a fact too
            missing[name] = f"{type(error).__name__}: {error}"

    threads = {name: threading.Thread(target=run, args=(name, part), daemon=True) for name, part in parts.items()}
    for thread in threads.values():
        thread.start()
    deadline = time.monotonic() + seconds
    for name, thread in threads.items():
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            missing[name] = f"no answer within {seconds:g} s"
    return {**{name: facts[name] for name in parts if name in facts}, "missing": dict(missing)}


def user_name() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # containers often run as a user id without an entry
        return str(os.getuid())


def os_name() -> str:
    for line in read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip().strip('"')
    return platform.system()


def python() -> "PythonFact":
    from importlib.util import find_spec

    # Debian splits venv from Python: without ensurepip an environment cannot be made.
    return {
        "version": platform.python_version(),
        "path": sys.executable,
        "venv": bool(find_spec("venv") and find_spec("ensurepip")),
    }


def cpu() -> "CpuFact":
    from flexrack_node.facts.numa import numa_nodes, sockets

    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    model = cpu_model()
    numa = sum(1 for node in numa_nodes() if node["cpus"])
    fact: CpuFact = {"cores": len(allowed) or os.cpu_count() or 1, "numa_nodes": numa or 1, "load": os.getloadavg()[0]}
    counts = sockets()
    if counts:
        fact["sockets"], fact["physical_cores"], fact["threads"] = counts
    quota = core_quota()
    if allowed:
        fact["allowed"] = ranges(allowed)
    if model:
        fact["model"] = model
    if quota:
        fact["quota"] = quota
    return fact


def ranges(numbers: List[int]) -> str:
    """[0, 1, 2, 8] as `0-2,8`."""
    starts = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in zip(starts, ends))


def core_quota() -> Optional[float]:
    """Cores that the cgroup of this process may use, where it is limited."""
    for folder in own_cgroups():
        quota, _, period = read(folder / "cpu.max").strip().partition(" ")
        if quota and quota != "max":
            return int(quota) / int(period or 100000)
        quota_v1, period_v1 = read(folder / "cpu.cfs_quota_us").strip(), read(folder / "cpu.cfs_period_us").strip()
        if quota_v1 and period_v1 and int(quota_v1) > 0:
            return int(quota_v1) / int(period_v1)
    return None


def memory() -> "MemoryFact":
    """Bytes. `limit` where a cgroup allows less than the machine has."""
    lines = dict(line.split(":", 1) for line in read("/proc/meminfo").splitlines() if ":" in line)
    fact: MemoryFact = {
        "total": kibibytes(lines["MemTotal"]),
        "available": kibibytes(lines.get("MemAvailable", lines["MemFree"])),
    }
    limits = [
        int(text)
        for folder in own_cgroups()
        for text in (read(folder / "memory.max").strip(), read(folder / "memory.limit_in_bytes").strip())
        if text.isdigit()
    ]
    if limits and min(limits) < fact["total"]:
        fact["limit"] = min(limits)
    if os.path.isdir("/dev/shm"):
        fact["shared"] = shutil.disk_usage("/dev/shm").total
    return fact


def disk(root: Path) -> "DiskFact":
    """Bytes of the file system that flexrack's folder is, or will be, on."""
    folder = root
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    inodes = os.statvfs(folder)
    return {
        "path": str(folder),
        "total": usage.total,
        "free": usage.free,
        "writable": os.access(folder, os.W_OK),
        "free_files": inodes.f_favail,
    }


def limits() -> "LimitFacts":
    """Of what a program started over SSH may have. locked_memory in bytes: RDMA pins what it transfers."""
    return {
        "open_files": limit(resource.RLIMIT_NOFILE),
        "locked_memory": limit(resource.RLIMIT_MEMLOCK),
        "processes": limit(resource.RLIMIT_NPROC),
    }


def limit(kind: int) -> "LimitFact":
    soft, hard = (None if one == resource.RLIM_INFINITY else one for one in resource.getrlimit(kind))
    return {"soft": soft, "hard": hard}


def wired(gpus: "Callable[[], List[GpuFact]]") -> "LinkFacts":
    from flexrack_node.facts.infiniband import infiniband_ports
    from flexrack_node.facts.nics import nics
    from flexrack_node.facts.numa import numa_nodes
    from flexrack_node.facts.wiring import ask_matrix, links

    text = ask_matrix()
    # A node without CPUs is memory of a GPU: no place of its own on the board.
    return links(gpus(), infiniband_ports(), nics(), sum(1 for node in numa_nodes() if node["cpus"]), text)


def gpu_daemon(channel: Channel) -> "GpuDaemonFact":
    """The shares that no lease has."""
    from flexrack_node.gpu.claims import state

    reported = state(None, channel)
    return {
        "state": reported["state"],
        "devices": [
            {
                "index": one["index"],
                "id": one["id"],
                "name": one["name"],
                "memory": one["memory"],
                "free": one["free"],
                "whole": one["leased"]["whole"],
                "api": one.get("api") or "opencl",
            }
            for one in reported["devices"]
        ],
    }


def once(ask: Callable[[], Any]) -> Callable[[], Any]:
    """For parts that need the same answer: the first asks, the others wait for it; its error is theirs too."""
    lock = threading.Lock()
    kept: List[Callable[[], Any]] = []

    def answer() -> Any:
        with lock:
            if not kept:
                try:
                    value = ask()
                    kept.append(lambda: value)
                except Exception as error:
                    failure = error
                    kept.append(lambda: throw(failure))
        return kept[0]()

    return answer


def throw(error: Exception) -> Any:
    raise error


def own_cgroups() -> List[Path]:
    """Folders of this process's cgroup and those above it (v1 controllers or v2), innermost first."""
    folders: List[Path] = []
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        if controllers and not {"cpu", "memory"} & set(controllers.split(",")):
            continue
        base = Path("/sys/fs/cgroup", controllers) if controllers else Path("/sys/fs/cgroup")
        folder = base / path.lstrip("/")
        while base in folder.parents:
            folders.append(folder)
            folder = folder.parent
        folders.append(base)  # in a container the path of the host does not exist, but the base is the container's own
    return folders


def kibibytes(text: str) -> int:
    return int(text.strip().split()[0]) * 1024

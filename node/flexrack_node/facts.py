"""node.facts: what this machine is and has. Reads only; every part that cannot be read is left out, none fails the rest."""
import os
import platform
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from flexrack_node.channel import Channel

CONTAINER_RUNTIMES = ("docker", "podman", "apptainer", "singularity", "nerdctl")
GPU_QUERY = ("index", "uuid", "name", "memory.total", "driver_version", "pci.bus_id")


def measure(given: Optional[Dict[str, Any]], channel: Channel) -> Dict[str, Any]:
    """{peers: {name: host}, ports: [[address, port]]}: facts; the address that each peer is reached from; ports in use."""
    given = given or {}
    from flexrack_node.network import interfaces, routes_to, taken_ports

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
        "memory": memory,
        "disk": lambda: disk(channel.root),
        "interfaces": interfaces,
        "gpus": gpus,
        "containers": lambda: [name for name in CONTAINER_RUNTIMES if shutil.which(name)],
        "slurm": slurm,
        "routes": lambda: routes_to(given.get("peers") or {}, interfaces()),
        "taken_ports": lambda: taken_ports(given.get("ports") or []),
    }
    facts = measure_all(parts, seconds=float(given.get("seconds") or 15))
    facts["clock"] = time.time()  # last: the caller compares it with the middle of the call
    return facts


def measure_all(parts: Dict[str, Callable[[], Any]], seconds: float) -> Dict[str, Any]:
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


def python() -> Dict[str, Any]:
    from importlib.util import find_spec

    # Debian splits venv from Python: without ensurepip an environment cannot be made.
    return {"version": platform.python_version(), "path": sys.executable, "venv": bool(find_spec("venv") and find_spec("ensurepip"))}


def cpu() -> Dict[str, Any]:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    model = next((line.split(":", 1)[1].strip() for line in read("/proc/cpuinfo").splitlines() if line.startswith("model name")), None)
    numa = [path.name for path in Path("/sys/devices/system/node").glob("node[0-9]*")]
    fact: Dict[str, Any] = {"cores": allowed, "numa_nodes": len(numa) or 1, "load": os.getloadavg()[0]}
    quota = core_quota()
    return {**fact, **({"model": model} if model else {}), **({"quota": quota} if quota else {})}


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


def memory() -> Dict[str, int]:
    """Bytes. `limit` where a cgroup allows less than the machine has."""
    lines = dict(line.split(":", 1) for line in read("/proc/meminfo").splitlines() if ":" in line)
    fact = {"total": kibibytes(lines["MemTotal"]), "available": kibibytes(lines.get("MemAvailable", lines["MemFree"]))}
    limits = [int(text) for folder in own_cgroups() for text in (read(folder / "memory.max").strip(), read(folder / "memory.limit_in_bytes").strip()) if text.isdigit()]
    if limits and min(limits) < fact["total"]:
        fact["limit"] = min(limits)
    shm = shutil.disk_usage("/dev/shm") if os.path.isdir("/dev/shm") else None
    return {**fact, **({"shared": shm.total} if shm else {})}


def disk(root: Path) -> Dict[str, Any]:
    """Bytes of the file system that flexrack's folder is, or will be, on."""
    folder = root
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    inodes = os.statvfs(folder)
    return {"path": str(folder), "total": usage.total, "free": usage.free, "writable": os.access(folder, os.W_OK), "free_files": inodes.f_favail}


def gpus() -> List[Dict[str, Any]]:
    """NVIDIA GPUs as nvidia-smi lists them; memory in bytes."""
    program = shutil.which("nvidia-smi")
    if not program:
        return []
    lines = run_quick([program, f"--query-gpu={','.join(GPU_QUERY)}", "--format=csv,noheader,nounits"]).splitlines()
    rows = [dict(zip(GPU_QUERY, (cell.strip() for cell in line.split(",")))) for line in lines if line.count(",") == len(GPU_QUERY) - 1]
    return [
        {
            "index": int(row["index"]),
            "uuid": row["uuid"],
            "name": row["name"],
            "memory": int(row["memory.total"]) * 1024 * 1024 if row["memory.total"].isdigit() else None,
            "driver": row["driver_version"],
            "bus": row["pci.bus_id"],
        }
        for row in rows
    ]


def slurm() -> Optional[str]:
    """Slurm's version, where its commands are there and know a cluster: without one they do not tell even that."""
    program = shutil.which("sinfo")
    try:
        return run_quick([program, "--version"]).strip() if program else None
    except RuntimeError:
        return None


def own_cgroups() -> List[Path]:
    """Folders of this process's cgroup and those above it (v1 controllers or v2), innermost first."""
    folders: List[Path] = []
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controllers and not {"cpu", "memory"} & set(controllers.split(",")):
            continue
        base = Path("/sys/fs/cgroup", controllers) if controllers else Path("/sys/fs/cgroup")
        folder = base / path.lstrip("/")
        while base in folder.parents:
            folders.append(folder)
            folder = folder.parent
        folders.append(base)  # in a container the path of the host does not exist, but the base is the container's own
    return folders


def run_quick(argv: List[str]) -> str:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=10, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(argv[0])} ended with {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def read(path: Any) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def kibibytes(text: str) -> int:
    return int(text.strip().split()[0]) * 1024

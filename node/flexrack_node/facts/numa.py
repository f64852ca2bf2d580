"""Sockets and NUMA nodes of this machine, with their CPUs and memory."""
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

from flexrack_node.base.sysfs import ROOT, cpu_list, known, names, number, read


def numa_nodes(root: Path = ROOT) -> List[Dict[str, Any]]:
    """[{node, socket, cpus: "0-15,32-47", memory, free (bytes), distances}]. Nodes without CPUs are memory of GPUs, or none at all (Grace, POWER)."""
    folder = root / "sys/devices/system/node"
    ids = [int(name[4:]) for name in names(folder) if re.fullmatch(r"node\d+", name)]
    return [numa_node(root, folder / f"node{node}", node) for node in ids] or [whole_machine(root)]


def numa_node(root: Path, folder: Path, node: int) -> Dict[str, Any]:
    cpus = read(folder / "cpulist")
    return known({
        "node": node,
        "socket": socket_of(root, cpus),
        "cpus": cpus,
        **memory_of(read(folder / "meminfo")),
        "distances": [int(text) for text in read(folder / "distance").split() if text.isdigit()] or None,
    })


def whole_machine(root: Path) -> Dict[str, Any]:
    """A kernel without NUMA has no folder of nodes: all is one node."""
    cpus = read(root / "sys/devices/system/cpu/online")
    return known({"node": 0, "socket": socket_of(root, cpus), "cpus": cpus, **memory_of(read(root / "proc/meminfo"))})


def memory_of(text: str) -> Dict[str, int]:
    found = dict(re.findall(r"(MemTotal|MemFree):\s+(\d+) kB", text))
    return {key: int(found[name]) * 1024 for key, name in (("memory", "MemTotal"), ("free", "MemFree")) if name in found}


def socket_of(root: Path, cpus: str) -> Optional[int]:
    listed = cpu_list(cpus)
    package = number(root / f"sys/devices/system/cpu/cpu{listed[0]}/topology/physical_package_id") if listed else None
    return package if package is not None and package >= 0 else None  # -1: a virtual machine that does not tell


def sockets(root: Path = ROOT) -> Dict[str, int]:
    """{sockets, physical_cores, threads} of the whole machine, whatever this process may use of it; what is not told is left out."""
    folder = root / "sys/devices/system/cpu"
    packages: Set[int] = set()
    cores: Set[Tuple[int, int, Optional[int]]] = set()
    threads = 0
    for cpu in (name for name in names(folder) if re.fullmatch(r"cpu\d+", name)):
        package, core, die = (number(folder / cpu / "topology" / name) for name in ("physical_package_id", "core_id", "die_id"))
        if package is None or core is None:  # switched off
            continue
        threads += 1
        packages.add(package)
        cores.add((package, core, die))
    return {"sockets": len(packages), "physical_cores": len(cores), "threads": threads} if threads else {}

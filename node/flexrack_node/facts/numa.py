"""Sockets and NUMA nodes of this machine, with their CPUs and memory."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Set, Tuple

from flexrack_node.base.sysfs import ROOT, cpu_list, names, number, read

if TYPE_CHECKING:
    from flexrack_node.schema.facts import NumaFact


def numa_nodes(root: Path = ROOT) -> "List[NumaFact]":
    """Nodes without CPUs are memory of GPUs, or none at all (Grace, POWER)."""
    folder = root / "sys/devices/system/node"
    ids = [int(name[4:]) for name in names(folder) if re.fullmatch(r"node\d+", name)]
    return [numa_node(root, folder / f"node{node}", node) for node in ids] or [whole_machine(root)]


def numa_node(root: Path, folder: Path, node: int) -> "NumaFact":
    found = node_of(root, node, read(folder / "cpulist"), read(folder / "meminfo"))
    distances: List[float] = [int(text) for text in read(folder / "distance").split() if text.isdigit()]
    if distances:
        found["distances"] = distances
    return found


def whole_machine(root: Path) -> "NumaFact":
    """A kernel without NUMA has no folder of nodes: all is one node."""
    return node_of(root, 0, read(root / "sys/devices/system/cpu/online"), read(root / "proc/meminfo"))


def node_of(root: Path, node: int, cpus: str, meminfo: str) -> "NumaFact":
    found: NumaFact = {"node": node, "cpus": cpus}
    socket, sizes = socket_of(root, cpus), dict(re.findall(r"(MemTotal|MemFree):\s+(\d+) kB", meminfo))
    if socket is not None:
        found["socket"] = socket
    if "MemTotal" in sizes:
        found["memory"] = int(sizes["MemTotal"]) * 1024
    if "MemFree" in sizes:
        found["free"] = int(sizes["MemFree"]) * 1024
    return found


def socket_of(root: Path, cpus: str) -> Optional[int]:
    listed = cpu_list(cpus)
    package = number(root / f"sys/devices/system/cpu/cpu{listed[0]}/topology/physical_package_id") if listed else None
    return package if package is not None and package >= 0 else None  # -1: a virtual machine that does not tell


class Counts(NamedTuple):
    sockets: int
    physical_cores: int
    threads: int


def sockets(root: Path = ROOT) -> Optional[Counts]:
    """Of the whole machine, whatever this process may use of it; None where it is not told."""
    folder = root / "sys/devices/system/cpu"
    packages: Set[int] = set()
    cores: Set[Tuple[int, int, Optional[int]]] = set()
    threads = 0
    for cpu in (name for name in names(folder) if re.fullmatch(r"cpu\d+", name)):
        package, core, die = (
            number(folder / cpu / "topology" / name) for name in ("physical_package_id", "core_id", "die_id")
        )
        if package is None or core is None:  # switched off
            continue
        threads += 1
        packages.add(package)
        cores.add((package, core, die))
    return Counts(len(packages), len(cores), threads) if threads else None

"""What the kernel counts of this machine and of a rank's processes, straight from /proc and /sys: proc(5). No program
is asked.

Everything here is a count since some beginning, or an amount right now; rates come from two looks (measure/sampler.py).
"""

import os
from pathlib import Path
from typing import Dict, List, Optional, Set, Tuple, TypedDict

from flexrack_node.base.sysfs import ROOT, names, number

SECTOR = 512  # bytes; the unit of /proc/diskstats, whatever the disk's own is
_LANES = 4  # InfiniBand counts words of four bytes (port_rcv_data, IBTA's PortCounters)
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class MachineCounts(TypedDict):
    """`cpu`: [busy, all] ticks; `memory`: bytes in use now; `net`, `rdma`: [in, out] and `disk`: [read, written] bytes
    since the boot.
    """

    cpu: List[int]
    memory: int
    net: List[int]
    rdma: Optional[List[int]]
    disk: List[int]


def machine(interface: Optional[str], root: Path = ROOT) -> "MachineCounts":
    """`interface`: the network interface that counts; None: all but loopback."""
    return {
        "cpu": _cpu(root),
        "memory": _memory_used(root),
        "net": _network(interface, root),
        "rdma": _rdma(root),
        "disk": _disks(root),
    }


def memory_total(root: Path = ROOT) -> int:
    return _meminfo(root).get("MemTotal", 0)


class ProcessTree:
    """A rank's process and all its children, by the root's pid."""

    def __init__(self, pid: int, root: Path = ROOT) -> None:
        self.pid, self._proc = pid, root / "proc"
        self._known: Set[int] = {pid}

    def read(self, parents: Optional[Dict[int, int]] = None) -> Optional[Dict[str, float]]:
        """{cpu: seconds, rss, read, written: bytes, processes}; None where the rank is gone. `parents`: of
        all_parents(), where it was looked at anew.

        CPU time and I/O of children that have ended, and were waited for, are in their parent's counts (wait4(2)).
        Pages that processes share count once for each. Children are followed from each main thread; those of other
        threads are found by `parents`.
        """
        self._known |= self._below(parents) if parents is not None else set()
        found: Dict[int, Tuple[float, int]] = {}
        queue = list(self._known)
        while queue:
            pid = queue.pop()
            stat = None if pid in found else self._stat(pid)
            if stat:
                found[pid] = stat
                queue += self._children(pid)
        self._known = set(found)
        if self.pid not in found:
            return None
        io = [self._io(pid) for pid in found]
        return {
            "cpu": sum(cpu for cpu, _ in found.values()),
            "rss": sum(rss for _, rss in found.values()),
            "read": sum(one[0] for one in io),
            "written": sum(one[1] for one in io),
            "processes": len(found),
        }

    def _below(self, parents: Dict[int, int]) -> Set[int]:
        children: Dict[int, List[int]] = {}
        for pid, parent in parents.items():
            children.setdefault(parent, []).append(pid)
        found, queue = set(), [self.pid]
        while queue:
            for pid in children.get(queue.pop(), []):
                if pid not in found:
                    found.add(pid)
                    queue.append(pid)
        return found

    def _stat(self, pid: int) -> Optional[Tuple[float, int]]:
        """(CPU seconds, resident bytes); None for one that is gone."""
        fields = stat_fields(self._proc / str(pid))
        if not fields or fields[0] in ("Z", "X"):
            return None
        return sum(int(field) for field in fields[11:15]) / _TICKS, int(fields[21]) * _PAGE

    def _children(self, pid: int) -> List[int]:
        try:
            return [int(word) for word in (self._proc / str(pid) / "task" / str(pid) / "children").read_text().split()]
        except OSError:  # gone, or a kernel without CONFIG_PROC_CHILDREN
            return []

    def _io(self, pid: int) -> Tuple[int, int]:
        """Bytes that really came from a disk and went to one. A program with more rights than ours does not tell."""
        try:
            lines = dict(line.split(": ", 1) for line in (self._proc / str(pid) / "io").read_text().splitlines())
            return int(lines["read_bytes"]), int(lines["write_bytes"])
        except (OSError, ValueError, KeyError):
            return 0, 0


def all_parents(root: Path = ROOT) -> Dict[int, int]:
    """pid -> its parent's, of every process."""
    found: Dict[int, int] = {}
    for name in os.listdir(root / "proc"):
        fields = stat_fields(root / "proc" / name) if name.isdigit() else []
        if fields:
            found[int(name)] = int(fields[1])
    return found


def stat_fields(folder: Path) -> List[str]:
    """The fields of a process's stat behind its name, which may have blanks: the third of proc(5) is [0]. Empty where
    it is gone.
    """
    try:
        with open(folder / "stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def _cpu(root: Path) -> List[int]:
    """[busy, all] ticks of all CPUs. Waiting for a disk is idle; guests are in user's time already."""
    with open(root / "proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return [sum(ticks) - ticks[3] - ticks[4], sum(ticks)]


def _meminfo(root: Path) -> Dict[str, int]:
    lines = [line.split() for line in (root / "proc/meminfo").read_text().splitlines()]
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) > 1}


def _memory_used(root: Path) -> int:
    found = _meminfo(root)
    return found.get("MemTotal", 0) - found.get("MemAvailable", found.get("MemFree", 0))


def _network(interface: Optional[str], root: Path) -> List[int]:
    received = sent = 0
    for line in (root / "proc/net/dev").read_text().splitlines()[2:]:
        name, _, rest = line.partition(":")
        name, words = name.strip(), rest.split()
        if name == interface or (interface is None and name != "lo"):
            received, sent = received + int(words[0]), sent + int(words[8])
    return [received, sent]


def _rdma(root: Path) -> Optional[List[int]]:
    """Of all InfiniBand and RoCE ports together: what NCCL sends there no network interface counts."""
    base = root / "sys/class/infiniband"
    folders = [
        base / card / "ports" / port / "counters" for card in names(base) for port in names(base / card / "ports")
    ]
    if not folders:
        return None
    return [
        sum((number(folder / name) or 0) * _LANES for folder in folders) for name in ("port_rcv_data", "port_xmit_data")
    ]


def _disks(root: Path) -> List[int]:
    """Real disks only: what is made of them (device mapper, md, partitions) would count a second time."""
    real = {name for name in names(root / "sys/block") if (root / "sys/block" / name / "device").exists()}
    read = written = 0
    try:
        lines = (root / "proc/diskstats").read_text().splitlines()
    except OSError:
        return [0, 0]
    for words in (line.split() for line in lines):
        if len(words) > 9 and words[2].replace("/", "!") in real:
            read, written = read + int(words[5]) * SECTOR, written + int(words[9]) * SECTOR
    return [read, written]

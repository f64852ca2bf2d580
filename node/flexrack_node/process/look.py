"""What /proc tells of one process: proc(5). Nothing here raises; a process that is gone has state X."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexrack_node.schema.watch import KernelView

_TICKS = os.sysconf("SC_CLK_TCK")


def state_of(pid: int) -> str:
    """R running, S sleeping, D waiting for a device or file system, T stopped, t traced, Z zombie, X gone."""
    fields = _stat(pid)
    return fields[0] if fields else "X"


def cpu_seconds(pid: int) -> float:
    """User and system time of all its threads."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def busy_seconds(pid: int) -> float:
    """Its CPU time, and the time in which its main thread wanted a CPU and had none: on a full machine a loop gets
    little and is still no waiting.
    """
    return cpu_seconds(pid) + cpu_wait_seconds(pid)


def io_bytes(pid: int) -> int:
    """Bytes that it read and wrote through files (rchar and wchar), 0 where that may not be read. What went through
    sockets is mostly not in it.
    """
    total = 0
    try:
        for line in Path(f"/proc/{pid}/io").read_text().splitlines():
            name, _, value = line.partition(": ")
            if name in ("rchar", "wchar"):
                total += int(value)
    except (OSError, ValueError):
        pass
    return total


def cpu_wait_seconds(pid: int) -> float:
    """How long its main thread was ready and had no CPU: the second number of /proc/PID/schedstat, 0 where the kernel
    does not keep it.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def throttled_seconds(pid: int) -> float:
    """How long its cgroup (v2) was not let run because of a CPU limit, summed over that cgroup's CPUs; 0 where that is
    not known.
    """
    try:
        own = next(
            line.split("::", 1)[1]
            for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()
            if line.startswith("0::")
        )
        for line in Path(f"/sys/fs/cgroup{own}/cpu.stat").read_text().splitlines():
            if line.startswith("throttled_usec "):
                return int(line.split()[1]) / 1e6
    except (OSError, ValueError, StopIteration):
        pass
    return 0.0


def has_handler(pid: int, number: int) -> bool:
    """True where it catches this signal (SigCgt): another one would end by it."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    except (OSError, ValueError):
        pass
    return False


def kernel_view(pid: int) -> "KernelView":
    """{wchan, stack}: where in the kernel it waits, None where that is not told; the stack only for root."""
    return {
        "wchan": _read(pid, "wchan") or None,
        "stack": [line.split()[-1] for line in _read(pid, "stack").splitlines() if line.strip()][:12],
    }


def _read(pid: int, name: str) -> str:
    try:
        text = Path(f"/proc/{pid}/{name}").read_text().strip()
        return "" if text == "0" else text
    except OSError:
        return ""


def _stat(pid: int) -> "list[str]":
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []

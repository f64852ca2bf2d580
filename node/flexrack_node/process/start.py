"""When a process was started: a pid that was kept is somebody else's where that differs."""

from pathlib import Path
from typing import TYPE_CHECKING, Callable, Optional

if TYPE_CHECKING:
    from flexrack_node.schema.result import RankRecord


def start_time(pid: int) -> Optional[str]:
    """Start time of a living process, in the kernel's own unit and with its boot; None where there is none. Raises
    OSError where that cannot be seen now.
    """
    ticks = born(pid)
    return None if ticks is None else f"{_boot()}:{ticks}"


def born(pid: int) -> Optional[int]:
    """The same in clock ticks since boot alone: that is also what a sandbox sees."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def started_at(start: Optional[str]) -> Callable[[int], bool]:
    """Whether a pid is the process that was started then; that of nobody, where it was not kept."""
    return lambda pid: start is not None and start_time(pid) == start


def same_rank(record: "RankRecord") -> Callable[[int], bool]:
    """Whether a pid is the rank that wrote this; records of before do not say when it was born."""
    ticks = record.get("born")
    return lambda pid: ticks is None or born(pid) == ticks


def _boot() -> str:
    """Enough of its id to tell boots apart: records of running processes have it so. A sandbox may hide it."""
    from flexrack_node.base.boot import boot_id  # only where a start is asked for

    try:
        return boot_id()[:8]
    except OSError:
        return "-"

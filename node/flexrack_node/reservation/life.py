"""Whether a reservation still counts. Nothing here trusts the clock on the wall: it jumps, and then leases would end
early or never.

Time is that of base/boot, and counts only within one boot. A process is its pid and its start time (field 22 of
proc_pid_stat(5)), so that a pid that is used again is another process.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Claim
    from flexrack_node.schema.nodefiles import ProcessHeld

MAX_TTL = 600.0  # seconds; a record that claims more is not believed
_TICK = 1.0  # seconds by which a heartbeat may seem to be ahead of us


def pid_namespace() -> str:
    """Pids mean something only within it."""
    return os.readlink("/proc/self/ns/pid")


def holder(pid: Optional[int] = None) -> "ProcessHeld":
    """A process as it is written down. Raises FileNotFoundError where it is not there any more."""
    pid = pid if pid is not None else os.getpid()
    return {"pid": pid, "start": _start_of(pid)}


def is_counting(record: "Claim", at: float, boot: str) -> bool:
    """True while the record reserves (or, waiting, keeps its place in line). `at`: boot_time()."""
    silent = at - record["heartbeat"]
    if record["boot"] != boot or silent < -_TICK:
        return False
    fresh = silent <= record["ttl"]
    if record["state"] != "running":
        return bool(fresh)
    if record["pidns"] != pid_namespace():
        return bool(fresh)
    states = {_state_of(one, record["uid"]) for one in record["holders"]}
    return "alive" in states or ("unknown" in states and fresh)


def _state_of(process: "ProcessHeld", uid: int) -> str:
    """alive, dead, or unknown where /proc hides the processes of others (hidepid of proc(5))."""
    pid = process["pid"]
    try:
        start = _start_of(pid)
        owner = os.stat(f"/proc/{pid}").st_uid
    except FileNotFoundError:
        return _ask_kernel(pid)
    except OSError:
        return "unknown"
    # A record of somebody that names a process of somebody else is kept alive by nothing.
    return "alive" if start == process["start"] and owner == uid else "dead"


def _ask_kernel(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "dead"
    except PermissionError:
        pass
    return "unknown"


def _start_of(pid: int) -> int:
    """Start time in clock ticks since boot; -1 for a process that has ended and is only not yet collected."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return -1 if fields[0] in (b"Z", b"X") else int(fields[19])

"""Runs one rank: its output into a file, its end into a record. Started by torchrun, mpirun or the supervisor as

    rank ATTEMPT_FOLDER CGROUP|- -- ARGV...

with RANK and LOCAL_RANK set. It holds nothing in memory that would be lost: if it is killed, the kernel kills the rank
too, and the missing exit in the record tells.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.stored import write
from flexrack_node.image.marks import SANDBOX
from flexrack_node.process.namespaces import own_namespace
from flexrack_node.process.start import born
from flexrack_node.rank.binding import bind
from flexrack_node.rank.mpi import take_place
from flexrack_node.rank.packaged import DEVICES, EVERY_DEVICE
from flexrack_node.watch.watching import begin_watching

if TYPE_CHECKING:
    from flexrack_node.schema.result import RankError, RankRecord

_PR_SET_PDEATHSIG = 1
_MOST_FILES = 65536  # some programs close every number up to the limit when they start: a billion would take minutes
_TAIL_BYTES = 8192
_TAIL_LINES = 30


def main(arguments: List[str]) -> int:
    import shutil

    folder, cgroup = Path(arguments[0]), arguments[1]
    argv = arguments[3:]
    die_with_parent()
    raise_limits()
    enter_cgroup(cgroup)
    take_place()
    forget_launcher()
    rank = os.environ["RANK"]
    show_rank(rank)
    record_path = folder / f"rank-{rank}.json"
    errors = folder / f"rank-{rank}.error.json"
    os.environ["TORCHELASTIC_ERROR_FILE"] = str(errors)
    record: RankRecord = {
        "rank": int(rank),
        "local_rank": int(os.environ["LOCAL_RANK"]),
        "node": os.environ["FLEXRACK_NODE"],
        "attempt": int(os.environ.get("FLEXRACK_ATTEMPT", "1")),
        "wrapper": os.getpid(),
        "started": time.time(),
    }
    if SANDBOX in os.environ:
        record["namespace"] = own_namespace()
    before, bound = bind(folder.parents[1] / "spec.json", record["local_rank"])
    if bound:
        record["bound"] = bound
    if not shutil.which(argv[0]):
        before = []  # that there is no such program is told below, not by numactl
    begin_watching(folder, int(rank))
    log = os.open(folder / f"rank-{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    # The rank itself gets SIGTERM from whoever stops it; this process stays to write down how it ended.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    try:
        child = subprocess.Popen(
            [*before, *argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent
        )
    except OSError as error:
        os.write(log, f"{argv[0]}: {error.strerror}\n".encode())
        record.update({"ended": time.time(), "exit": 127, "signal": None, "tail": [f"{argv[0]}: {error.strerror}"]})
        write("run.rank", record_path, record)
        return 127
    record["pid"] = child.pid
    with contextlib.suppress(OSError):  # it may be over already
        ticks = born(child.pid)
        if ticks is not None:
            record["born"] = ticks
    write("run.rank", record_path, record)
    status = child.wait()
    ended = time.time()
    record.update(
        {
            "ended": ended,
            "exit": status if status >= 0 else 128 - status,
            "signal": signal_name(status),
            "cpu": cpu_seconds(),
        }
    )
    if status != 0:
        record["tail"] = tail(folder / f"rank-{rank}.log")
        record["error"] = read_error(errors)
    write("run.rank", record_path, record)
    return record["exit"]


def cpu_seconds() -> float:
    """CPU time of the rank and of those of its children that it has waited for (getrusage(2), RUSAGE_CHILDREN), now
    that it has ended.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(used.ru_utime + used.ru_stime, 3)


def forget_launcher() -> None:
    """torchrun's settings are not for a torchrun that a rank might start itself; GPUs are what was chosen, whatever the
    launcher made of them.
    """
    for name in [name for name in os.environ if name.startswith("PET_")]:
        del os.environ[name]
    devices = os.environ.pop(DEVICES, None)
    if devices == EVERY_DEVICE:
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    elif devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices


def show_rank(rank: str) -> None:
    """To the relay, by the token: which rank asks for a run of its own makes a difference (relay/claims.py)."""
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    if token:
        os.environ["MLFLOW_TRACKING_TOKEN"] = f"{token}.{os.environ.get('FLEXRACK_ATTEMPT', '1')}.{rank}"


def die_with_parent() -> None:
    """The kernel sends SIGKILL to this process when its parent ends (prctl(2), PR_SET_PDEATHSIG); it survives execve."""
    parent = os.getppid()
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:  # it ended in between
        os._exit(137)


def raise_limits() -> None:
    """Open files and locked memory up to what the node allows: the soft limits of a login are for people, not for ranks
    with many peers.
    """
    for kind, most in ((resource.RLIMIT_NOFILE, _MOST_FILES), (resource.RLIMIT_MEMLOCK, resource.RLIM_INFINITY)):
        soft, hard = resource.getrlimit(kind)
        wanted = hard if most == resource.RLIM_INFINITY else most if hard == resource.RLIM_INFINITY else min(hard, most)
        if soft != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > soft):
            try:
                resource.setrlimit(kind, (wanted, hard))
            except (OSError, ValueError):
                pass


def enter_cgroup(path: str) -> None:
    if path != "-":
        try:
            Path(path, "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            pass


def signal_name(status: int) -> Optional[str]:
    """Name without SIG of the signal in a negative status of subprocess."""
    if status >= 0:
        return None
    try:
        return signal.Signals(-status).name[3:]
    except ValueError:
        return str(-status)


def tail(path: Path) -> List[str]:
    """The last lines of a log, as a terminal would show them."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            size = file.tell()
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return []
    if size > _TAIL_BYTES:
        lines = lines[1:]
    shown = [line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    return shown[-_TAIL_LINES:]


def read_error(path: Path) -> "Optional[RankError]":
    """What torch's @record wrote about the exception: {message, at}."""
    try:
        message = json.loads(path.read_text())["message"]
        extra = message.get("extraInfo", {}) if isinstance(message, dict) else {}
        text = message.get("message", "") if isinstance(message, dict) else str(message)
        return {"message": text, "at": float(extra["timestamp"]) if extra.get("timestamp") else None}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def launch(arguments: List[str]) -> int:
    """CGROUP|- ARGV...: becomes ARGV, contained, and dies with its parent. For the launcher (torchrun) itself."""
    die_with_parent()
    raise_limits()
    enter_cgroup(arguments[0])
    os.execvp(arguments[1], arguments[1:])
    return 127

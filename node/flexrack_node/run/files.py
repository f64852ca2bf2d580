"""The folder of a run on a node: plain files that tell the whole story, also after everybody who wrote them is gone.

<root>/runs/<run>/
    spec.json                    what to do, with secrets: 0600
    code/                        what its ranks run: the workspace as it was when the run began (workspace/frozen.py)
    tree.json, code.tar.gz       what that is made of, and its contents (lineage/pack.py)
    record.json                  where the run comes from (lineage/record.py); environment.txt: its packages
    lock                         held (flock) by the supervisor while it lives
    state.json                   what the supervisor is doing
    stop.json                    somebody asked for the end: {grace, kill, by}
    events.jsonl                 what happened, in order
    attempts/<k>/rank-<r>.log    stdout and stderr of a rank
    attempts/<k>/rank-<r>.json   its record: pid, started, ended, exit, signal, tail
    attempts/<k>/rank-<r>.progress   what it tells of itself: instrumentation/flexrack_layout.py
    attempts/<k>/rank-<r>.stacks     every dump of its stacks, as it wrote them
    attempts/<k>/agent.log       what the launcher (torchrun) said; torchrun/: folders that it makes
    hang-<n>.json                when ranks made no progress: who, in what, and all their stacks (the leader's folder)
    hardware.jsonl               what was used of the machine, a line a sample (measure/hardware_file.py)
    hardware.json                the same in means and totals (measure/hardware_summary.py)
    outputs/                     what the script left for keeping (FLEXRACK_OUTPUTS)
    spool/                       tracking writes that wait for the head
    result.json                  how it ended: the result that the leader committed, copied to every node
    summary.json                 what run.list tells of it, once nothing of that can change
"""

import errno
import fcntl
import os
import re
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, cast

from flexrack_node.base import stored
from flexrack_node.base.errors import NodeError

if TYPE_CHECKING:
    from flexrack_node.schema.result import RankRecord, RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder, RunEventName, RunState, StopRequest

_GONE = 2**31 - 1  # above the highest number of a process: PID_MAX_LIMIT of proc(5) is 2**22
_LOOKS_SECONDS = 10.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = path.name
        self.outputs = path / "outputs"
        self.spool = path / "spool"
        self._lock: Optional[int] = None
        self._is_ours = False  # to repair it

    def spec(self) -> "KeptRunOrder":
        return stored.read("run.spec", self.path / "spec.json") or cast("KeptRunOrder", {})

    def state(self) -> "RunState":
        return stored.read("run.state", self.path / "state.json") or {"status": "unknown"}

    def result(self) -> "Optional[RunResult]":
        return stored.read("run.result", self.path / "result.json")

    def stop_request(self) -> "Optional[StopRequest]":
        return stored.read("run.stop", self.path / "stop.json")

    def write(self, name: str, value: Any) -> None:
        """Writes <name>.json, of the kind run.<name>, as a whole or not at all, 0600."""
        write: Any = stored.write
        write(f"run.{name}", self.path / f"{name}.json", value)

    def event(self, kind: "RunEventName", **fields: Any) -> None:
        """Appends one line to events.jsonl. A new kind: protocol/runfiles.json."""
        fd = os.open(self.path / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, stored.line("run.event", {"at": time.time(), "event": kind, **fields}))
        finally:
            os.close(fd)

    def attempt(self, number: int) -> Path:
        return self.path / "attempts" / str(number)

    def attempts(self) -> List[int]:
        try:
            return sorted(int(name) for name in os.listdir(self.path / "attempts") if name.isdigit())
        except FileNotFoundError:
            return []

    def records(self, attempt: int) -> "Dict[int, RankRecord]":
        """Every rank's record of an attempt; one without "exit" is still running, or was lost."""
        found: Dict[int, RankRecord] = {}
        for rank, path in self._of_ranks(attempt, "json"):
            record = stored.read("run.rank", path)
            if record:
                found[rank] = as_seen_here(record)
        return found

    def logs(self, attempt: int) -> Dict[int, Path]:
        """Every rank's log of an attempt."""
        return dict(self._of_ranks(attempt, "log"))

    def _of_ranks(self, attempt: int, suffix: str) -> List[Tuple[int, Path]]:
        try:
            names = os.listdir(self.attempt(attempt))
        except FileNotFoundError:
            return []
        found = [(re.fullmatch(rf"rank-(\d+)\.{suffix}", name), name) for name in names]
        return [(int(match.group(1)), self.attempt(attempt) / name) for match, name in found if match]

    def hold(self) -> bool:
        """Takes the lock for the life of this process; False where a supervisor lives already. Whoever looks has the
        lock for a moment, and who repairs for as long as that takes.
        """
        until = time.monotonic() + _LOOKS_SECONDS
        while not self._take():
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    @contextmanager
    def unsupervised(self) -> Iterator[bool]:
        """Whether no supervisor lives; then none begins meanwhile."""
        self._is_ours = self._take()
        try:
            yield self._is_ours
        finally:
            if self._is_ours and self._lock is not None:
                os.close(self._lock)
                self._lock, self._is_ours = None, False

    def _take(self) -> bool:
        fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            if error.errno not in (errno.EAGAIN, errno.EACCES):  # a file system without locks (Lustre without -o flock)
                raise
            return False
        self._lock = fd
        return True

    def is_held(self) -> bool:
        """True while the supervisor lives: the kernel lets go of its lock whatever ends it. Who repairs the run knows
        that none does.
        """
        if self._is_ours:
            return False
        try:
            fd = os.open(self.path / "lock", os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except OSError:
            return True
        finally:
            os.close(fd)


def as_seen_here(record: "RankRecord") -> "RankRecord":
    """A rank in a sandbox knows itself and its wrapper by other numbers than we do; those that are gone have none."""
    namespace = record.get("namespace")
    if namespace is None:
        return record
    from flexrack_node.process.namespaces import outer_pid, own_namespace  # few runs have one

    if namespace == own_namespace():
        return record
    seen = cast("RankRecord", {**record})
    seen["wrapper"] = outer_pid(namespace, record.get("wrapper", 0)) or _GONE
    if "pid" in record:
        seen["pid"] = outer_pid(namespace, record["pid"]) or _GONE
    return seen


def open_run(root: Path, run: str) -> RunFolder:
    """The folder of a run that is here. Raises NOT_FOUND."""
    folder = run_path(root, run)
    if not (folder / "spec.json").exists():
        raise NodeError("NOT_FOUND", f"no run {run} on this node", "flexrack runs list")
    return RunFolder(folder)


def run_path(root: Path, run: str) -> Path:
    if not _NAME.fullmatch(run):
        raise NodeError("USAGE", f"not a run id: {run!r}")
    return root / "runs" / run


def all_runs(root: Path) -> Iterator[RunFolder]:
    """Every run of this node, oldest first."""
    folders = [path for path in (root / "runs").glob("*") if (path / "spec.json").exists()]
    for path in sorted(folders, key=lambda path: path.stat().st_ctime):
        yield RunFolder(path)


def containment_tag(spec: "KeptRunOrder", attempt: int) -> str:
    """What all processes of an attempt on a node carry."""
    return f"{spec['run']}.{spec['index']}.{attempt}"

"""Keeps track of every process that was started for one purpose, so that all of them can be ended and that be proven.

Two ways, used together: a cgroup of its own where that is allowed (v2, or v1's freezer or pids), and an environment tag
that every descendant inherits and that is looked for in /proc/*/environ. The cgroup cannot be escaped by a daemon that
clears its environment; the tag works without any right.
"""

import os
import signal
import time
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Set, Tuple

TAG = "FLEXRACK_TAG"
# who stay outside of an image or a sandbox while something runs in it (image/enter.py): they end when that does
DOORKEEPERS = ("flexrack-enter", "bwrap")
_POLL = 0.05  # seconds
_FORGOTTEN = 24 * 3600.0  # seconds after which an empty cgroup of ours has nobody left who would remove it
_KILL_PATIENCE = 5.0  # seconds that SIGKILL is repeated before what is left counts as a survivor


class Containment:
    """All processes tagged `tag`. Several processes may open the same one: `folder` keeps which cgroup was chosen.

    With `look_only` no cgroup is made where none was noted.
    """

    def __init__(self, tag: str, folder: Path, look_only: bool = False) -> None:
        if not tag or any(character in tag for character in "/\0= \n"):
            raise ValueError(f"not a containment tag: {tag!r}")
        self.tag = tag
        self._note = folder / f"cgroup-{tag}"
        self.cgroup: Optional[Path] = self._noted_cgroup() or (None if look_only else self._make_cgroup())

    def environment(self) -> Dict[str, str]:
        """What to add to the environment of everything that belongs here."""
        return {TAG: self.tag}

    def enter(self, pid: Optional[int] = None) -> None:
        """Moves a process (this one by default) into the cgroup, where there is one. Its children follow by themselves."""
        if self.cgroup is None:
            return
        try:
            (self.cgroup / "cgroup.procs").write_text(str(pid if pid is not None else os.getpid()))
        except OSError:
            pass  # the tag still finds it

    def pids(self) -> List[int]:
        """Live processes, this one excepted; a zombie is not live."""
        found = {pid for pid in self._cgroup_pids() | tagged_pids(self.tag) if pid != os.getpid() and is_alive(pid)}
        return sorted(found)

    def terminate(self, grace_seconds: float) -> List[int]:
        """SIGTERM, up to `grace_seconds` of waiting, SIGKILL, and a last look: returns the pids that are still alive."""
        if grace_seconds > 0:
            for pid in self.pids():
                if name_of(pid) in DOORKEEPERS:  # they would take what is inside with them, before it had its time
                    continue
                send_signal(pid, signal.SIGTERM, self.has)
                send_signal(pid, signal.SIGCONT, self.has)  # a stopped process would never see SIGTERM
            if self._wait_empty(grace_seconds):
                return []
        end = time.monotonic() + _KILL_PATIENCE
        while time.monotonic() < end:
            self._kill_cgroup()
            for pid in self.pids():
                send_signal(pid, signal.SIGKILL, self.has)
            if self._wait_empty(_POLL * 4):
                return []
        return self.pids()

    def close(self) -> None:
        """Removes the empty cgroup; does nothing while processes are left."""
        if self.cgroup is None:
            return
        for _ in range(20):  # the kernel takes a moment to let go of processes that have just ended
            try:
                for inner in sorted((path for path in self.cgroup.rglob("*") if path.is_dir()), reverse=True):
                    inner.rmdir()
                self.cgroup.rmdir()
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(_POLL)
        self._note.unlink(missing_ok=True)

    def _noted_cgroup(self) -> Optional[Path]:
        """The cgroup chosen by whoever opened this containment first."""
        try:
            noted = self._note.read_text()
            return Path(noted) if noted and Path(noted).is_dir() else None
        except OSError:
            return None

    def _make_cgroup(self) -> Optional[Path]:
        for parent in _cgroup_parents():
            path = parent / f"flexrack-{self.tag}"
            _remove_forgotten(parent)
            try:
                path.mkdir(exist_ok=True)
            except OSError:
                continue
            if os.access(path / "cgroup.procs", os.W_OK):
                try:
                    self._note.write_text(str(path))
                except OSError:
                    pass
                return path
            try:
                path.rmdir()
            except OSError:
                pass
        return None

    def _cgroup_pids(self) -> Set[int]:
        found: Set[int] = set()
        if self.cgroup is None:
            return found
        try:
            for procs in self.cgroup.rglob("cgroup.procs"):
                found.update(int(line) for line in procs.read_text().split())
        except OSError:
            pass
        return found

    def has(self, pid: int) -> bool:
        """Asked of that process alone, not of all there are."""
        return is_tagged(pid, self.tag) or pid in self._cgroup_pids()

    def _kill_cgroup(self) -> None:
        """v2 only, kernel 5.14 and newer: kills the whole tree at once, also while it is forking."""
        if self.cgroup is not None:
            try:
                (self.cgroup / "cgroup.kill").write_text("1")
            except OSError:
                pass

    def _wait_empty(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.pids():
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL)
        return True


def tagged_pids(tag: str) -> Set[int]:
    """Processes that were started with FLEXRACK_TAG=<tag> in their environment, as far as /proc may be read."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit() and is_tagged(int(name), tag)}


def is_tagged(pid: int, tag: str) -> bool:
    return f"{TAG}={tag}".encode() in environ_of(pid)


def environ_of(pid: int) -> List[bytes]:
    """NAME=VALUE as it was started; empty for a zombie, and for processes of other users."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """True for a process that exists and is neither a zombie nor dead."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def name_of(pid: int) -> str:
    """As the process calls itself; empty for one that is gone."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read().decode(errors="replace").rstrip("\n")
    except OSError:
        return ""


def send_signal(pid: int, number: int, is_it: Callable[[int], bool]) -> bool:
    """Sends a signal; False where the process is gone or not ours. `is_it`: looks whether that pid is still who is meant.
    It cannot become somebody else's between that look and the signal: a descriptor holds the process (Linux 5.3).
    """
    held = _hold(pid)
    try:
        if not is_it(pid):
            return False
        if held is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(held, number)
        return True
    except OSError:
        return False
    finally:
        if held is not None:
            os.close(held)


def _hold(pid: int) -> Optional[int]:
    """None where the process is gone, or neither this Python nor the kernel, or a filter of its calls, has descriptors of
    processes.
    """
    if not hasattr(os, "pidfd_open") or not hasattr(signal, "pidfd_send_signal"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def leave_session_cgroup() -> None:
    """Moves this process out of its login session's cgroup, where root is allowed to: logind may kill that one at
    logout.
    """
    for parent in _cgroup_parents():
        if parent.name == "flexrack" and os.geteuid() == 0:
            path = parent / "detached"
            try:
                path.mkdir(exist_ok=True)
                (path / "cgroup.procs").write_text(str(os.getpid()))
            except OSError:
                continue


def _remove_forgotten(parent: Path) -> None:
    """Empty cgroups whose owner was killed. The kernel refuses to remove one that has a process."""
    for path in parent.glob("flexrack-*"):
        try:
            if time.time() - path.stat().st_mtime > _FORGOTTEN:
                path.rmdir()
        except OSError:
            continue


def _cgroup_parents() -> Iterator[Path]:
    """Folders of the cgroup file system in which a cgroup of ours may be made, best first."""
    from flexrack_node.process import cgroups  # only where something is started: looking has to be quick

    own = cgroups.own()
    for path, controller in _cgroup_mounts(cgroups.mounts()):
        if os.geteuid() == 0:  # outside the login session, so that its end does not reach it
            top = path / "flexrack"
            try:
                top.mkdir(exist_ok=True)
                yield top
            except OSError:
                pass
        inside = path / own.get(controller, "/").lstrip("/")
        if os.access(inside / "cgroup.procs", os.W_OK):
            yield inside


def _cgroup_mounts(mounts: List[Tuple[Path, str, List[str]]]) -> List[Tuple[Path, str]]:
    """v2 first, then v1's freezer and pids: (path, controller), controller "" for v2."""
    found: Dict[str, Path] = {}
    for path, kind, options in mounts:
        if kind == "cgroup2":
            found.setdefault("", path)
            continue
        for controller in ("freezer", "pids"):
            if controller in options:
                found.setdefault(controller, path)
    return [(found[key], key) for key in ("", "freezer", "pids") if key in found]

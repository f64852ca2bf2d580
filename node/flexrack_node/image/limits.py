"""How much a sandbox may take of memory, processes and CPUs: by a cgroup of its own where this account may make one, by
systemd where the account has one of it, else by the limits of processes (setrlimit(2)), which hold for each process
alone, and by which CPUs they run on.

cgroups(7), cgroup-v2.rst of the kernel, systemd.resource-control(5).
"""

import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, cast

from flexrack_node.base.errors import NodeError
from flexrack_node.process import cgroups

if TYPE_CHECKING:
    from flexrack_node.schema.image import Isolate, LimitsHeld

_PERIOD = 100_000  # microseconds, of a CPU quota


class Limits:
    """`words` and `enter` before the program starts, `close` when all of it has ended."""

    def __init__(self, isolate: "Optional[Isolate]") -> None:
        kept = cast("Dict[str, Optional[float]]", isolate or {})
        limits = {name: kept.get(name) for name in ("memory", "pids", "cpus")}
        self._wanted: Dict[str, float] = {name: float(limit) for name, limit in limits.items() if limit is not None}
        self._groups: List[Path] = []
        self._by_systemd = False
        self.held: Dict[str, str] = {}
        if self._wanted:
            self._choose()

    def _choose(self) -> None:
        for name in self._wanted:
            group = _make(name)
            if group:
                self._groups.append(group[0]) if group[0] not in self._groups else None
                _write(group, name, self._wanted[name])
                self.held[name] = "cgroup"
        if not self.held:
            self.held = {name: "systemd" for name in by_systemd() if name in self._wanted}
            self._by_systemd = bool(self.held)
        for name in self._wanted:
            self.held.setdefault(name, "process")

    def words(self, words: List[str]) -> List[str]:
        if not self._by_systemd:
            return words
        settings = {
            "memory": ("MemoryMax", f"{int(self._wanted.get('memory', 0))}"),
            "pids": ("TasksMax", f"{int(self._wanted.get('pids', 0))}"),
            "cpus": ("CPUQuota", f"{self._wanted.get('cpus', 0) * 100:.0f}%"),
        }
        chosen = [
            word for name, way in self.held.items() if way == "systemd" for word in ("-p", "=".join(settings[name]))
        ]
        if self.held.get("memory") == "systemd":
            chosen += ["-p", "MemorySwapMax=0"]
        import shutil

        return [
            shutil.which("systemd-run") or "systemd-run",
            "--user",
            "--scope",
            "--quiet",
            "--collect",
            *chosen,
            "--",
            *words,
        ]

    def enter(self) -> None:
        """In the child, before it becomes the sandbox."""
        for group in self._groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        for name, way in self.held.items():
            if way != "process":
                continue
            value = int(self._wanted[name])
            if name == "memory":
                resource.setrlimit(resource.RLIMIT_AS, (value, value))
            elif name == "pids":
                resource.setrlimit(resource.RLIMIT_NPROC, (value, value))
            else:
                allowed = sorted(os.sched_getaffinity(0))
                os.sched_setaffinity(0, allowed[: max(1, min(len(allowed), -int(-self._wanted[name] // 1)))])

    def close(self) -> None:
        for group in self._groups:
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # what has just been killed is not gone yet
                    time.sleep(0.02)


def look() -> "LimitsHeld":
    """How each limit would be held here: `cgroup`, `systemd`, or `process`: for each process alone, or by CPUs."""
    found: Dict[str, str] = {}
    for name in ("memory", "pids", "cpus"):
        group = _make(name)
        if group:
            _remove(group[0])
            found[name] = "cgroup"
    if not found:
        found = dict.fromkeys(by_systemd(), "systemd")
    return cast("LimitsHeld", {name: found.get(name, "process") for name in ("memory", "pids", "cpus")})


_FILES = {"memory": "memory.max", "pids": "pids.max", "cpus": "cpu.max"}
# What a scope holds is looked at from within: a service manager that was given no controller takes every setting, and
# nothing comes of it.
_LOOK = 'while IFS=: read -r _ none path; do [ -z "$none" ] && own=$path; done </proc/self/cgroup; for name; do read -r value _ <"$MOUNT$own/$name" && echo "$name $value"; done 2>/dev/null; :'


def by_systemd() -> List[str]:
    """What a scope of this account's service manager really limits; empty where it has none. Asked, because its socket
    alone says little.
    """
    import shutil
    import subprocess  # only where it is asked: every start inside waits for what is imported

    mount = next((str(place) for place, kind, _ in cgroups.mounts() if kind == "cgroup2"), None)
    if (
        mount is None
        or shutil.which("systemd-run") is None
        or not os.path.exists(f"{os.environ.get('XDG_RUNTIME_DIR', f'/run/user/{os.getuid()}')}/systemd/private")
    ):
        return []
    words = [
        "systemd-run",
        "--user",
        "--scope",
        "--quiet",
        "--collect",
        "-p",
        "TasksMax=16",
        "-p",
        "MemoryMax=1G",
        "-p",
        "CPUQuota=100%",
        "--",
        "/bin/sh",
        "-c",
        _LOOK,
        "sh",
        *_FILES.values(),
    ]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=5,
            text=True,
            env={**os.environ, "MOUNT": mount},
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    held = {line.split()[0] for line in done.stdout.splitlines() if line.split()[1:] not in ([], ["max"])}
    return [name for name, file in _FILES.items() if file in held]


_V1 = {"memory": "memory", "pids": "pids", "cpus": "cpu"}


def _make(name: str) -> Optional[Tuple[Path, str]]:
    """A cgroup of our own in which this can be limited, and its version; the same one for several of version 2. None
    where this account may make none.
    """
    controller = _V1[name]
    own = cgroups.own()
    label = f"flexrack-sandbox-{os.getpid()}"
    candidates: List[Tuple[Path, str]] = []
    for mount, kind, controllers in sorted(cgroups.mounts(), key=lambda one: one[1] != "cgroup2"):
        if kind == "cgroup2" and "" in own:
            here = mount / own[""].lstrip("/")
            # Controllers are given on by a group that has no processes itself: the one above, where we may write it.
            candidates += [
                (place, "2") for place in (here.parent, here) if controller in _words(place / "cgroup.subtree_control")
            ]
            if os.geteuid() == 0 and controller in _words(mount / "cgroup.subtree_control"):
                candidates.append((mount, "2"))
        elif kind == "cgroup" and controller in controllers and os.geteuid() == 0:
            candidates.append((mount, "1"))
    for place, version in candidates:
        group = place / label
        try:
            group.mkdir(exist_ok=True)
            if os.access(group / "cgroup.procs", os.W_OK) and (group / _file(name, version)).exists():
                return group, version
            group.rmdir()
        except OSError:
            continue
    return None


def _file(name: str, version: str) -> str:
    if version == "2":
        return _FILES[name]
    return {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpus": "cpu.cfs_quota_us"}[name]


def _write(group: Tuple[Path, str], name: str, value: float) -> None:
    path, version = group
    text = (
        f"{int(value * _PERIOD)} {_PERIOD}"
        if name == "cpus" and version == "2"
        else f"{int(value * _PERIOD)}"
        if name == "cpus"
        else f"{int(value)}"
    )
    try:
        (path / _file(name, version)).write_text(text)
        if name == "memory" and version == "2" and (path / "memory.swap.max").exists():
            (path / "memory.swap.max").write_text("0")
    except OSError as error:
        raise NodeError(
            "NODE_UNFIT",
            f"this node does not take the limit {name}: {error.strerror}",
            f"another value of workspace.isolate.{name}",
        ) from error


def _remove(path: Path) -> None:
    try:
        path.rmdir()
    except OSError:
        pass


def _words(path: Path) -> List[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []

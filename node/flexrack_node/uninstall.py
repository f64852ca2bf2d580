"""node.installed and node.uninstall: what flexrack put on this machine, and its removal: that list and nothing else."""

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, List, Optional, Set

from flexrack_node.base import home, installed
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import daemon
from flexrack_node.process import containment  # all before anything is removed: this program is on the list too
from flexrack_node.service import comeback, control
from flexrack_node.workspace import environment, environment_users
from flexrack_node.workspace.workspace import TAG as WORKSPACE_TAG

if TYPE_CHECKING:
    from flexrack_node.schema.node import NodeInstalled, Nothing, PathLeft, Uninstalled, UninstallEntry, UninstallOrder
    from flexrack_node.schema.workspace import RunningProcess

_MARKS = (f"{containment.TAG}=".encode(), f"{WORKSPACE_TAG}=".encode())


def listing(given: "Optional[Nothing]", channel: Channel) -> "NodeInstalled":
    """{root, entries: [{path, kind, at, inside}], alive: [{pid, command}]}: only what is really there."""
    return {
        "root": str(channel.root),
        "entries": entries(channel.root),
        "alive": [describe(pid) for pid in living(channel.root)],
        "outside": comeback.outside(channel.root),
    }


def remove(given: "UninstallOrder", channel: Channel) -> "Uninstalled":
    """{force, grace}: removes every listed path below the root, then the list and what is empty.

    Refuses while processes of runs or services live, unless forced: then they are ended first, and that is proven.
    Returns {removed, left: [{path, why}], ended}.
    """
    given = given or {}
    alive = living(channel.root)
    if alive and not given.get("force"):
        raise NodeError(
            "CONFLICT",
            f"{len(alive)} processes of flexrack still run here; --force ends them first",
            "--force",
            alive=[describe(pid) for pid in alive],
        )
    daemon.take_away(channel, float(given.get("grace", 10)))  # a unit of systemd is known outside of the root too
    ended = end_all(channel, alive, float(given.get("grace", 10)))
    comeback.take_away(channel.root, stop=True)
    environment_users.leave(channel)
    removed: List[str] = []
    left: List[PathLeft] = []
    shared, others = home.shared_root(channel.root), home.others(channel.root)  # before the claim goes
    # the last one takes along what was left for others
    roots = [channel.root] if others or shared == channel.root else [channel.root, shared]
    for root in roots:
        for entry in reversed(entries(root)):  # the program itself came first and goes last
            if entry["kept"]:
                left.append({"path": entry["path"], "why": entry["kept"]})
            elif take(entry, root, shared, channel, bool(others)):
                removed.append(entry["path"])
            elif os.path.lexists(entry["path"]):
                left.append({"path": entry["path"], "why": "could not be removed"})
    if not any(one["why"] == "could not be removed" for one in left):
        for root in roots:
            installed.forget_all(
                root, spare=[shared / "nodes", channel.environments] if others and root == shared else []
            )
        if shared != channel.root:
            installed.remove_empty(shared / "nodes")
    for root in roots:
        left.extend(
            {"path": path, "why": "not made by flexrack"}
            for path in foreign_paths(
                root, shared, [one["path"] for one in left] + [str(channel.environments)] * bool(others)
            )
        )
    return {"removed": removed, "left": left, "ended": len(ended)}


def take(entry: "UninstallEntry", root: Path, shared: Path, channel: Channel, others: bool) -> bool:
    """True if it is gone. An environment that others may begin to use goes under its lock, if they do not."""
    if entry["kind"] == "environment" and others:
        environment.remove({"hashes": [os.path.basename(entry["path"])]}, channel)
        return not os.path.lexists(entry["path"])
    return installed.remove(shared if entry["kind"].startswith("environment") else root, entry)


def foreign_paths(root: Path, shared: Path, known: List[str]) -> List[str]:
    """What lies in the root and is neither known nor of another machine."""
    if not root.is_dir():
        return []
    rest = sorted(
        str(path)
        for path in root.iterdir()
        if path.name != "installed.jsonl" and not (root == shared and path.name == "nodes" and home.others(root))
    )
    return [path for path in rest if not any(is_within(one, path) for one in known)]


def entries(root: Path) -> "List[UninstallEntry]":
    """The list with absolute paths; `kept` says why something is left: it lies outside the root, or other machines use
    it; else None. `inside`: it may be removed.
    """
    shared, others = home.shared_root(root), home.others(root)
    found: List[UninstallEntry] = []
    for one in installed.listing(root):
        path = os.path.normpath(root / one["path"])
        is_shared = one["kind"].startswith("environment")
        kept = None
        if not is_within(
            os.path.join(os.path.realpath(os.path.dirname(path)), "x"), os.path.realpath(shared if is_shared else root)
        ):
            kept = "outside flexrack's folder"
        elif is_shared and others and (one["kind"] != "environment" or used_by_others(Path(path), root)):
            kept = "other machines use it"
        found.append({"path": path, "kind": one["kind"], "at": one.get("at", ""), "inside": kept is None, "kept": kept})
    return found


def used_by_others(folder: Path, root: Path) -> bool:
    return any(
        user["root"] != str(root) and environment_users.is_counted(folder, root, user)
        for user in environment_users.users_of(folder)
    )


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def living(root: Path) -> List[int]:
    """Processes that flexrack has started below this root. Who only has a file of it open, or names one, is somebody
    else: an editor, a pager, a backup.
    """
    own, is_ours = ancestors(), started_below(root)
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return sorted(pid for pid in pids if pid not in own and is_ours(pid) and containment.is_alive(pid))


def started_below(root: Path) -> Callable[[int], bool]:
    """Whether a pid is a process that flexrack has started below this root."""
    places = [f"{place}/".encode() for place in {str(root), os.path.realpath(root)}]
    # a container's, which has the same home as its host
    theirs = [f"{folder}/".encode() for folder in home.others(root) if root in folder.parents]
    return lambda pid: _is_ours(pid, places, theirs)


def _is_ours(pid: int, places: List[bytes], theirs: List[bytes]) -> bool:
    """Started with our mark, or a program of the root itself, or a Python that runs our program for it."""
    try:
        words = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
        variables = Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
        program = os.fsencode(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False
    if any(word.endswith(b"/flexrack_node") for word in words):
        return False  # a verb that another connection calls at the same time: it ends by itself
    if any(place in text for place in theirs for text in (*words, *variables)):
        return False
    tags = [variable for variable in variables if variable.startswith(_MARKS)]
    if tags and any(place in text for text in (*words, *variables) for place in places):
        return True
    if any(program.startswith(place) or words[0].startswith(place) for place in places):
        return True
    is_python = os.path.basename(program).startswith((b"python", b"pypy"))
    return (
        is_python
        and any(b"flexrack_node" in word for word in words)
        and any(place in word for word in words for place in places)
    )


def ancestors() -> Set[int]:
    found: Set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in found:
        found.add(pid)
        try:
            pid = int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            break
    return found


def end_all(channel: Channel, alive: List[int], grace: float) -> List[int]:
    """Services first, so that no supervisor starts anything again; then whatever is left."""
    if not alive:
        return []
    from flexrack_node.serving.control import SERVICE as agent

    names = [path.name for path in (channel.root / "services").glob("*")]
    # First who starts others: what it sees stopped it would start again.
    for name in sorted(names, key=lambda one: (one != agent, one)):
        channel.event("progress", detail=f"ending {name}")
        control.stop({"id": name, "grace": grace}, channel)
    is_ours = started_below(channel.root)
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + patience
        while True:
            rest = living(channel.root)
            for pid in rest:
                containment.send_signal(pid, number, is_ours)
            if not rest:
                return alive
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
    raise NodeError(
        "CONFLICT", f"{len(rest)} processes could not be ended", None, alive=[describe(pid) for pid in rest]
    )


def describe(pid: int) -> "RunningProcess":
    try:
        command = (
            Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        )
    except OSError:
        command = ""
    return {"pid": pid, "command": command[:200]}

"""node.installed and node.uninstall: what flexrack put on this machine, and its removal: that list and nothing else."""
import os
import signal
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

from flexrack_node import containment, gpu, installed, service  # all before anything is removed: this program is on the list too
from flexrack_node.channel import Channel
from flexrack_node.errors import NodeError
from flexrack_node.workspace import TAG as WORKSPACE_TAG

_MARKS = (f"{containment.TAG}=".encode(), f"{WORKSPACE_TAG}=".encode())


def listing(given: Optional[Dict[str, Any]], channel: Channel) -> Dict[str, Any]:
    """{root, entries: [{path, kind, at, inside}], alive: [{pid, command}]}: only what is really there."""
    return {"root": str(channel.root), "entries": entries(channel.root), "alive": [describe(pid) for pid in living(channel.root)]}


def remove(given: Optional[Dict[str, Any]], channel: Channel) -> Dict[str, Any]:
    """{force, grace}: removes every listed path below the root, then the list and what is empty.

    Refuses while processes of runs or services live, unless forced: then they are ended first, and that is proven.
    Returns {removed, left: [{path, why}], ended}.
    """
    given = given or {}
    alive = living(channel.root)
    if alive and not given.get("force"):
        raise NodeError("CONFLICT", f"{len(alive)} processes of flexrack still run here; --force ends them first", "--force", alive=[describe(pid) for pid in alive])
    gpu.take_away(channel, float(given.get("grace", 10)))  # a unit of systemd is known outside of the root too
    ended = end_all(channel, alive, float(given.get("grace", 10)))
    removed: List[str] = []
    left: List[Dict[str, str]] = []
    for entry in reversed(entries(channel.root)):  # the program itself came first and goes last
        if not entry["inside"]:
            left.append({"path": entry["path"], "why": "outside flexrack's folder"})
        elif installed.remove(channel.root, entry):
            removed.append(entry["path"])
        else:
            left.append({"path": entry["path"], "why": "could not be removed"})
    if not any(one["why"] == "could not be removed" for one in left):
        installed.forget_all(channel.root)
    if channel.root.is_dir():
        listed = [one["path"] for one in left]
        rest = sorted(str(path) for path in channel.root.iterdir() if path.name != "installed.jsonl")
        left.extend({"path": path, "why": "not made by flexrack"} for path in rest if not any(is_within(one, path) for one in listed))
    return {"removed": removed, "left": left, "ended": len(ended)}


def entries(root: Path) -> List[Dict[str, Any]]:
    """The list with absolute paths; `inside` says whether it is below the root and may be removed."""
    found = [{**entry, "path": os.path.normpath(root / entry["path"])} for entry in installed.listing(root)]
    return [{**entry, "inside": is_within(os.path.join(os.path.realpath(os.path.dirname(entry["path"])), "x"), os.path.realpath(root))} for entry in found]


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def living(root: Path) -> List[int]:
    """Processes that flexrack has started below this root. Who only has a file of it open, or names one, is somebody else: an editor, a pager, a backup."""
    places = [f"{place}/".encode() for place in {str(root), os.path.realpath(root)}]
    own = ancestors()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return sorted(pid for pid in pids if pid not in own and _is_ours(pid, places) and containment.is_alive(pid))


def _is_ours(pid: int, places: List[bytes]) -> bool:
    """Started with our mark, or a program of the root itself, or a Python that runs our program for it."""
    try:
        words = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
        environment = Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
        program = os.fsencode(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False
    if any(word.endswith(b"/flexrack_node") for word in words):
        return False  # a verb that another connection calls at the same time: it ends by itself
    tags = [variable for variable in environment if variable.startswith(_MARKS)]
    if tags and any(place in variable for variable in environment for place in places):
        return True
    if any(program.startswith(place) or words[0].startswith(place) for place in places):
        return True
    is_python = os.path.basename(program).startswith((b"python", b"pypy"))
    return is_python and any(b"flexrack_node" in word for word in words) and any(place in word for word in words for place in places)


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
    for name in sorted(path.name for path in (channel.root / "services").glob("*")):
        channel.event("progress", detail=f"ending {name}")
        service.stop({"id": name, "grace": grace}, channel)
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + patience
        while True:
            rest = living(channel.root)
            for pid in rest:
                containment.send_signal(pid, number)
            if not rest:
                return alive
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
    raise NodeError("CONFLICT", f"{len(rest)} processes could not be ended", None, alive=[describe(pid) for pid in rest])


def describe(pid: int) -> Dict[str, Any]:
    try:
        command = Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        command = ""
    return {"pid": pid, "command": command[:200]}

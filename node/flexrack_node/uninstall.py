"""node.installed and node.uninstall: what flexrack put on this machine, and its removal: that list and nothing else."""
import os
import signal
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

from flexrack_node import containment, gpu, installed, service  # all before anything is removed: this program is on the list too
from flexrack_node.channel import Channel
from flexrack_node.errors import NodeError


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
    """Processes that belong to runs or services below this root: it stands in their command or environment."""
    needles = {f"{place}/".encode() for place in (str(root), os.path.realpath(root))}
    own = ancestors()
    found: List[int] = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in own:
            continue
        try:
            command = Path("/proc", name, "cmdline").read_bytes()
            environment = Path("/proc", name, "environ").read_bytes()
        except OSError:
            continue
        # A verb that another connection calls at the same time is no run: it ends by itself.
        is_verb = b"/flexrack_node\0" in command
        tagged = f"{containment.TAG}=".encode() in environment
        if any(needle in command or (tagged and needle in environment) for needle in needles) and not is_verb and containment.is_alive(int(name)):
            found.append(int(name))
    return sorted(found)


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

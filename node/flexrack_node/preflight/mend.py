"""preflight.mendable and preflight.mend: what a user can put right on this node without root, as a list first, then
done.

    processes    of runs that are over                                            always
    temporary    half-written files and folders whose writer is gone              always
    environment  that nothing uses; program: other versions that nothing runs     where the disk is short
    workspace    not synced for a month, and nothing runs in it                   where the disk is short
"""

import re
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Set

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.installer import UNUSED_SECONDS, commands_running
from flexrack_node.preflight.leftovers import is_leftover, leftovers
from flexrack_node.process.containment import is_alive, send_signal
from flexrack_node.runs.repair import repair
from flexrack_node.runs.view import open_view
from flexrack_node.workspace import build, environment, workspace
from flexrack_node.workspace.folder import WorkspaceFolder, measure, processes_from

if TYPE_CHECKING:
    from flexrack_node.schema.preflight import MendAnswer, Mended, MendList, MendOrder, MendQuestion

_STALE_SECONDS = 3600.0  # a writer of ours takes seconds
_MONTH = 30 * 24 * 3600.0
_DRAFTS = (  # what our own writers leave when they are killed: each name ends with the writer's pid
    "program/.*.*",
    "runs/*/.*.json.*",
    "services/*/.*.*",
    "workspaces/*/*.json.*",
    "workspaces/.*.removed-*",
)

Item = Any  # a Mendable of protocol/preflight.json, whose kind is the name of a list below


def mendable(given: "MendQuestion", channel: Channel) -> "MendList":
    """{room, project?} -> {items: [{kind, name, detail, bytes}], free}. `room`: with less free bytes than that, unused
    things are on the list, too.
    """
    free = shutil.disk_usage(channel.root).free
    items = list(processes(channel)) + list(temporary(channel))
    if free < given["room"]:
        items += (
            list(unused_environments(channel))
            + list(unused_programs(channel))
            + list(unused_workspaces(channel, given.get("project")))
        )
    return {"items": items, "free": free}


def mend(given: "MendOrder", channel: Channel) -> "MendAnswer":
    """{items: [{kind, name}], grace?} -> {done: [{kind, name, bytes, why?}]}; looked at again before each: what has
    come into use stays, `why` says so.
    """
    done: List[Mended] = []
    kind: Any
    for kind in _LISTS:
        found = {one["name"]: one for one in _LISTS[kind](channel)}
        for name in [one["name"] for one in given["items"] if one["kind"] == kind]:
            why = None if name in found else "it is gone, or in use by now"
            try:
                if why is None:
                    _ENDS[kind](name, channel, float(given.get("grace", 5)))
            except (NodeError, OSError) as error:
                why = getattr(error, "message", None) or str(error)
            done.append(
                {"kind": kind, "name": name, "bytes": 0, "why": why}
                if why
                else {"kind": kind, "name": name, "bytes": found[name]["bytes"]}
            )
    return {"done": done, "free": shutil.disk_usage(channel.root).free}


def processes(channel: Channel) -> Iterator[Item]:
    for one in leftovers(channel.root):
        yield {
            "kind": "processes",
            "name": one["run"],
            "detail": f"{', '.join(map(str, one['pids'][:8]))}: {one['command']}",
            "bytes": 0,
        }


def end_processes(run: str, channel: Channel, grace: float) -> None:
    """SIGTERM, the grace, SIGKILL, and proof. Looks again at each signal: a pid may have become somebody else's."""

    def found() -> Set[int]:
        return {pid for one in leftovers(channel.root) if one["run"] == run for pid in one["pids"]}

    def is_left(pid: int) -> bool:
        return is_leftover(channel.root, run, pid)

    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + seconds
        requested: Set[int] = set()
        while True:
            left = found()
            for pid in left - requested:
                send_signal(pid, number, is_left)
                send_signal(pid, signal.SIGCONT, is_left)  # a stopped process would never see SIGTERM
            requested |= left
            if not left or time.monotonic() > deadline:
                break
            time.sleep(0.05)
    if left:
        raise NodeError("NODE_UNFIT", f"process {min(left)} cannot be ended")
    try:
        repair(open_view(channel.root, run))
    except NodeError:
        pass  # its folder was removed long ago


def temporary(channel: Channel) -> Iterator[Item]:
    for path in stale_drafts(channel.root):
        yield {"kind": "temporary", "name": str(path), "detail": "its writer is gone", "bytes": size_of(path)}
    for path in channel.environments.glob("[0-9a-f]*"):
        if (
            re.fullmatch(r"[0-9a-f]{16}", path.name)
            and not (path / build.READY).exists()
            and is_old(path)
            and is_free(path, channel)
        ):
            yield {
                "kind": "temporary",
                "name": str(path),
                "detail": "an environment whose build did not end",
                "bytes": size_of(path),
            }


def stale_drafts(root: Path) -> Iterator[Path]:
    for pattern in _DRAFTS:
        for path in sorted(root.glob(pattern)):
            pid = re.search(r"[.-](\d+)$", path.name)
            if pid and not is_alive(int(pid.group(1))) and is_old(path):
                yield path


def end_temporary(name: str, channel: Channel, _grace: float) -> None:
    path = Path(name)
    if path.parent == channel.environments:
        with FileLock(
            channel.environments / ".locks" / path.name, channel, f"removal of environment {path.name}", wait=False
        ):
            build.discard(path)
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def unused_environments(channel: Channel) -> Iterator[Item]:
    for one in environment.listing(None, channel):
        path = Path(one["path"])
        if one["ready"] and not one["users"] and not processes_from(one["path"]) and is_free(path, channel):
            yield {"kind": "environment", "name": one["hash"], "detail": "nothing uses it", "bytes": size_of(path)}


def unused_programs(channel: Channel) -> Iterator[Item]:
    running = commands_running()
    for path in sorted((channel.root / "program").glob("[0-9a-f]*")):
        is_run = running is None or any(f"/program/{path.name}/" in command for command in running)
        if path.name != own_program() and not is_run and time.time() - path.stat().st_mtime > UNUSED_SECONDS:
            yield {
                "kind": "program",
                "name": path.name,
                "detail": "another version of flexrack, not used for a day",
                "bytes": size_of(path),
            }


def unused_workspaces(channel: Channel, project: Optional[str] = None) -> Iterator[Item]:
    for path in sorted((channel.root / "workspaces").glob("[!.]*")):
        place = WorkspaceFolder(channel.root, path.name)
        try:
            age = time.time() - place.sync.stat().st_mtime
        except OSError:
            continue
        if path.name != project and age > _MONTH and not path.is_symlink() and not workspace.inside(place):
            yield {
                "kind": "workspace",
                "name": path.name,
                "detail": f"last synced {age / 86400:.0f} days ago; what was made in it is lost",
                "bytes": size_of(path),
            }


def own_program() -> str:
    return Path(__file__).resolve().parents[2].name


def is_old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > _STALE_SECONDS
    except OSError:
        return False


def is_free(path: Path, channel: Channel) -> bool:
    """Nobody builds it right now."""
    try:
        with FileLock(channel.environments / ".locks" / path.name, channel, "a look", wait=False):
            return True
    except NodeError:
        return False


def size_of(path: Path) -> int:
    return measure(path)[1] if path.is_dir() and not path.is_symlink() else path.lstat().st_size


_LISTS: Dict[str, Callable[[Channel], Iterator[Item]]] = {
    "processes": processes,
    "temporary": temporary,
    "environment": unused_environments,
    "program": unused_programs,
    "workspace": unused_workspaces,
}
_ENDS: Dict[str, Callable[[str, Channel, float], Any]] = {
    "processes": end_processes,
    "temporary": end_temporary,
    "environment": lambda name, channel, grace: environment.remove({"hashes": [name]}, channel),
    "program": lambda name, channel, grace: shutil.rmtree(channel.root / "program" / name),
    "workspace": lambda name, channel, grace: workspace.remove({"project": name, "grace": grace}, channel),
}

"""Looks at workspaces on this node, ends what runs in them, and removes them."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Set

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.stored import or_nothing, read
from flexrack_node.process.containment import environ_of, send_signal
from flexrack_node.workspace import environment, environment_users
from flexrack_node.workspace.folder import WorkspaceFolder, measure, processes

if TYPE_CHECKING:
    from flexrack_node.schema.workspace import (
        EnvironmentInUse,
        ProjectName,
        WorkspaceEnd,
        WorkspaceEntry,
        WorkspaceInspected,
        WorkspaceQuestion,
        WorkspaceRemoved,
        WorkspaceStopped,
    )

TAG = "FLEXRACK_WORKSPACE_FOLDER"  # in the environment of everything started in a workspace: its absolute path
POLL_SECONDS = 0.05


def inspect(request: "WorkspaceQuestion", channel: Channel) -> "WorkspaceInspected":
    """{project, tree, environment?} -> {sync, environment?}: what `up` would have to do, found out in one call."""
    from flexrack_node.workspace import sync  # who only lists does without

    found: WorkspaceInspected = {"sync": sync.compare(request, channel)}
    place = WorkspaceFolder(channel.root, request["project"])
    image = read("workspace.image", place.image)
    if image:
        found["image"] = image
    if (
        or_nothing(read("history.settings", channel.root / "history" / place.project / "settings.json")).get("every")
        is not None
    ):
        found["autosave"] = True
    wanted = request.get("environment")
    if wanted is None:
        return found
    planned = environment.plan(wanted, channel)
    noted = or_nothing(read("workspace.environment", place.environment)).get("hash") == planned["hash"]
    found["environment"] = {**planned, "noted": noted}
    return found


def listing(request: "ProjectName", channel: Channel) -> "List[WorkspaceEntry]":
    """{project?} -> every workspace: {project, path, code, owner, source, synced_at, files, environment, processes}."""
    wanted = (request or {}).get("project")
    folder = channel.root / "workspaces"
    names = (
        [wanted] if wanted else sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    )
    found: List[WorkspaceEntry] = []
    for name in names:
        try:
            place = WorkspaceFolder(channel.root, name)
        except NodeError:  # a folder that is not ours
            continue
        if not place.path.is_dir():
            continue
        last = or_nothing(read("workspace.sync", place.sync))
        found.append(
            {
                "project": name,
                "path": str(place.path),
                "code": str(place.code),
                "owner": last.get("owner"),
                "source": last.get("source"),
                "synced_at": last.get("at"),
                "files": last.get("files"),
                "environment": environment_of(place),
                "image": read("workspace.image", place.image),
                "enter": enter_program(channel),
                "processes": [
                    {"pid": pid, "command": command_of(pid), "run": tag_of(pid, "FLEXRACK_RUN")}
                    for pid in inside(place)
                ],
            }
        )
    return found


def stop(request: "WorkspaceEnd", channel: Channel) -> "WorkspaceStopped":
    """{project, grace, dry_run?} -> {ended: [{pid, command}], survived: [pid]}. SIGTERM, `grace` seconds, SIGKILL, and
    a look again.
    """
    place = WorkspaceFolder(channel.root, request["project"])
    seen = {pid: command_of(pid) for pid in tagged(place)}
    requested: Set[int] = set()
    if not request.get("dry_run"):
        end_notebook(place, channel)
        deadline = time.monotonic() + float(request.get("grace", 10))
        while True:
            alive = list(tagged(place))
            seen.update({pid: command_of(pid) for pid in alive if pid not in seen})
            if not alive or time.monotonic() > deadline + 5:
                break
            if time.monotonic() < deadline:
                # once: some take a second one for `now`
                send(place, [pid for pid in alive if pid not in requested], signal.SIGTERM)
                requested.update(alive)
            else:
                send(place, alive, signal.SIGKILL)
            time.sleep(POLL_SECONDS)
    alive = [] if request.get("dry_run") else list(tagged(place))
    return {
        "ended": [{"pid": pid, "command": command} for pid, command in sorted(seen.items()) if pid not in alive],
        "survived": alive,
    }


def remove(request: "WorkspaceEnd", channel: Channel) -> "WorkspaceRemoved":
    """{project, grace, dry_run?} -> {removed: path or null, bytes, files, ended}. CONFLICT while a run is in it."""
    place = WorkspaceFolder(channel.root, request["project"])
    if not os.path.lexists(place.path):
        return {"removed": None, "bytes": 0, "files": 0, "ended": []}
    runs = sorted({run for run in (tag_of(pid, "FLEXRACK_RUN") for pid in inside(place)) if run})
    if runs:
        raise NodeError(
            "CONFLICT",
            f"workspace {place.project} is in use by run {', '.join(runs)}",
            f"flexrack runs stop {runs[0]}",
            runs=runs,
        )
    count, size = measure(place.path)
    ended = stop(request, channel)
    answer: WorkspaceRemoved = {"removed": str(place.path), "bytes": size, "files": count, "ended": ended["ended"]}
    if request.get("dry_run"):
        return answer
    if ended["survived"]:
        raise NodeError(
            "NODE_UNFIT",
            f"process {ended['survived'][0]} in workspace {place.project} cannot be ended",
            None,
            pids=ended["survived"],
        )
    if place.path.is_symlink():
        place.path.unlink()  # the link is ours, what it points to is not
    else:
        with FileLock(place.lock, channel, f"workspace {place.project}", owner=request.get("owner")):
            discard(place)
    from flexrack_node.base.short_socket import remove_sockets  # who only lists does without

    notebook = channel.root / "notebooks" / place.project
    if (notebook / "gpus.json").exists():
        from flexrack_node.gpu.held_passes import end_passes  # few have it

        end_passes(notebook / "gpus.json")
    shutil.rmtree(notebook, ignore_errors=True)
    remove_sockets(channel.root, notebook)
    for user in ("workspace", "notebook"):
        environment_users.release({"user": f"{user}:{place.project}"}, channel)
    return answer


def end_notebook(place: WorkspaceFolder, channel: Channel) -> None:
    """It is a service: whoever only ended its processes would see them again."""
    from flexrack_node.service import control  # who only lists does without

    control.stop({"id": f"notebook-{place.project}", "remove": True}, channel)


def discard(place: WorkspaceFolder) -> None:
    """Under another name first: what is left by a removal cut short is not taken for a workspace."""
    for rest in place.path.parent.glob(f".{place.project}.removed-*"):
        shutil.rmtree(rest, ignore_errors=True)
    aside = place.path.with_name(f".{place.project}.removed-{os.getpid()}")
    os.rename(place.path, aside)
    shutil.rmtree(aside, onerror=unlock)


def unlock(function: Any, path: str, _failure: Any) -> None:
    """A folder without write permission keeps what is in it from being removed: it is ours, so it gets it."""
    os.chmod(os.path.dirname(path), 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        if function is not os.rmdir:
            shutil.rmtree(path)
            return
    function(path)


def enter_program(channel: Channel) -> List[str]:
    """What starts a program in an image or a sandbox (image/enter.py); an order as JSON, `--` and its words follow."""
    return [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).resolve().parents[1] / "image" / "enter.py"),
        str(channel.root),
        str(channel.environments),
    ]


def environment_of(place: WorkspaceFolder) -> "Optional[EnvironmentInUse]":
    found: Any = read("workspace.environment", place.environment)
    return (
        {
            "hash": found["hash"],
            "path": found["path"],
            "python": found["python"],
            "ready": environment.is_ready(Path(found["path"])),
        }
        if found
        else None
    )


def tagged(place: WorkspaceFolder) -> Iterator[int]:
    """Processes started in this workspace, by the tag they inherit; zombies are not alive."""
    yield from (pid for pid in processes() if is_of(place, pid))


def is_of(place: WorkspaceFolder, pid: int) -> bool:
    return f"{TAG}={place.path}".encode() in environ_of(pid)


def inside(place: WorkspaceFolder) -> List[int]:
    """Processes with the tag, and those whose working directory is in the workspace, or in a run's view of it."""
    views = f"{place.path.parent.parent / 'runs'}/"
    found = []
    for pid in processes():
        try:
            cwd = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if (
            cwd == str(place.code)
            or cwd.startswith(f"{place.code}/")
            or (cwd.startswith(views) and is_view_of(cwd, place))
            or is_of(place, pid)
        ):
            found.append(pid)
    return found


def is_view_of(cwd: str, place: WorkspaceFolder) -> bool:
    from flexrack_node.workspace.frozen import run_of  # only here: most nodes have no run

    found = run_of(cwd, place.path.parent.parent)
    spec: Any = or_nothing(read("run.spec", found[1] / "spec.json")) if found else {}
    return bool(or_nothing(spec.get("code")).get("workspace") == place.project)


def tag_of(pid: int, name: str) -> Optional[str]:
    start = f"{name}=".encode()
    return next((one[len(start) :].decode(errors="replace") for one in environ_of(pid) if one.startswith(start)), None)


def command_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            return stream.read(4000).replace(b"\0", b" ").decode(errors="replace").strip()[:200]
    except OSError:
        return ""


def send(place: WorkspaceFolder, pids: List[int], number: int) -> None:
    for pid in pids:
        send_signal(pid, number, lambda one: is_of(place, one))

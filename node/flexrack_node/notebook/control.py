"""notebook.prepare, .access, .list, .remove: what a notebook is started with, how it is reached, what it is doing. The
service's verbs start and end it.
"""

import contextlib
import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read, replace_file, write
from flexrack_node.notebook.folder import NotebookFolder, runtime_of
from flexrack_node.service import control as services
from flexrack_node.workspace import environment

if TYPE_CHECKING:
    from flexrack_node.schema.notebook import (
        NotebookAccess,
        NotebookEntry,
        NotebookPrepared,
        NotebookProject,
        NotebookQuestion,
        NotebookRemoved,
        NotebookWanted,
    )

KEEPER = Path(__file__).resolve().with_name("keeper.py")
KERNEL = Path(__file__).resolve().with_name("kernel.py")
WITH_GPUS = Path(__file__).resolve().with_name("with_gpus.py")


def prepare(request: "NotebookWanted", channel: Channel) -> "NotebookPrepared":
    """{project, server, side, environment, idle, end_at?, gpus?} -> {id, argv, cwd}: what the service is started with.
    Errors: NOT_FOUND without a workspace.
    """
    place = NotebookFolder(channel.root, request["project"])
    if not place.workspace.code.is_dir():
        raise NodeError("NOT_FOUND", f"there is no workspace {place.project}", "flexrack workspace up")
    place.make()
    packages = sorted(Path(request["side"]).glob("lib/python3.*/site-packages"))
    if not packages:
        raise NodeError("NODE_UNFIT", f"{request['side']} is no Python environment")
    socket = place.socket()
    place.state.unlink(missing_ok=True)
    write_config(place, socket)
    write_kernels(place, request, packages[0], channel)
    write(
        "notebook.settings",
        place.settings,
        {
            "server": request["server"],
            "environment": request["environment"],
            "socket": str(socket),
            "idle": request["idle"],
            "end_at": request.get("end_at"),
        },
    )
    return {
        "id": place.service,
        "argv": [sys.executable, "-I", "-S", str(KEEPER), str(channel.root), place.project],
        "cwd": str(place.workspace.code),
    }


def write_config(place: NotebookFolder, socket: Path) -> None:
    """For Jupyter alone: on the command line others would read it."""
    settings: Dict[str, Any] = {
        "ServerApp": {
            "sock": str(socket),
            "sock_mode": "0600",
            "root_dir": str(place.workspace.code),
            "open_browser": False,
            "allow_root": True,
            "log_level": "WARN",
        },
        "KernelSpecManager": {"ensure_native_kernel": False},
        # Of a port on loopback every account could hear what cells print; a socket is in a folder of ours.
        "KernelManager": {"transport": "ipc"},
    }
    replace_file(place.config / "jupyter_server_config.json", json.dumps(settings))
    # Else a page asks, and then asks the internet; who says otherwise in it keeps that.
    news = place.config / "lab" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    if not news.exists():
        news.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(news, json.dumps({"fetchNews": "false", "checkForUpdates": False}))


def write_kernels(place: NotebookFolder, request: "NotebookWanted", side: Path, channel: Channel) -> None:
    """`python3` is the project's Python, whose own packages win: what makes it a kernel comes last. Found before the
    one of the server's environment, by JUPYTER_PATH.
    """
    python = f"{request['environment']}/bin/python"
    run = [python, str(KERNEL), str(side), "-f", "{connection_file}"]
    write_kernel(place, "python3", {"argv": run, "display_name": place.project, "language": "python"})
    gpus = request.get("gpus")
    if not gpus:
        shutil.rmtree(place.kernels / "kernels" / "gpu", ignore_errors=True)
        return
    run.insert(3, "--leased")
    replace_file(place.path / "gpus.json", json.dumps(gpus))
    taking = [sys.executable, "-I", "-S", str(WITH_GPUS), str(channel.root), str(channel.environments), place.project]
    write_kernel(
        place,
        "gpu",
        {
            "argv": [*taking, *run],
            "display_name": f"{place.project}, {gpus['text']}",
            "language": "python",
            "interrupt_mode": "message",
        },
    )


def write_kernel(place: NotebookFolder, name: str, spec: Dict[str, Any]) -> None:
    folder = place.kernels / "kernels" / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(folder / "kernel.json", json.dumps(spec))


def access(request: "NotebookProject", channel: Channel) -> "NotebookAccess":
    """Where it listens, and the token, for who may log in here anyway. Errors: NOT_FOUND where there is none."""
    place = NotebookFolder(channel.root, request["project"])
    settings = read("notebook.settings", place.settings)
    if settings is None or not place.token.exists():
        raise NodeError("NOT_FOUND", f"there is no notebook of {place.project}", "flexrack notebook start")
    return {"socket": settings["socket"], "token": place.token.read_text()}


def listing(request: "NotebookQuestion", channel: Channel) -> "List[NotebookEntry]":
    """{project?} -> every notebook of this node: what its service does, and what its keeper saw last; null before it
    has seen anything.
    """
    wanted = (request or {}).get("project")
    folder = channel.root / "notebooks"
    names = [wanted] if wanted else sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    found: List[NotebookEntry] = []
    for name in names:
        place = NotebookFolder(channel.root, name)
        settings = read("notebook.settings", place.settings)
        if settings is None:
            continue
        service = services.status({"id": place.service}, channel)
        found.append(
            {
                "project": name,
                "code": str(place.workspace.code),
                "service": service,
                "idle": settings["idle"],
                "end_at": settings.get("end_at"),
                "now": time.time(),
                "seen": read("notebook.state", place.state),
            }
        )
    return found


def remove(request: "NotebookProject", channel: Channel) -> "NotebookRemoved":
    """Ends the service and its kernels, and removes the folder, with the token."""
    place = NotebookFolder(channel.root, request["project"])
    settings = or_nothing(read("notebook.settings", place.settings))
    stopped = services.stop({"id": place.service, "remove": True}, channel)["stopped"]
    there = place.path.is_dir()
    shutil.rmtree(place.path, ignore_errors=True)
    if settings.get("socket"):
        Path(settings["socket"]).unlink(missing_ok=True)
        shutil.rmtree(runtime_of(settings["socket"]), ignore_errors=True)
        with contextlib.suppress(OSError):  # others may have theirs there
            Path(settings["socket"]).parent.rmdir()
    environment.release({"user": f"notebook:{place.project}"}, channel)
    return {"stopped": stopped, "removed": there}

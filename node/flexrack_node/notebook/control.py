"""notebook.prepare, .access, .list, .remove: what a notebook is started with, how it is reached, what it is doing. The
service's verbs start and end it.
"""

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.short_socket import remove_sockets
from flexrack_node.base.stored import read, replace_file, write
from flexrack_node.gpu import held_passes
from flexrack_node.image.enter import enter_words
from flexrack_node.notebook import inside
from flexrack_node.notebook.folder import NotebookFolder
from flexrack_node.service import control as services
from flexrack_node.workspace import environment_users

if TYPE_CHECKING:
    from flexrack_node.schema.notebook import (
        NotebookAccess,
        NotebookEntry,
        NotebookPrepared,
        NotebookProject,
        NotebookQuestion,
        NotebookRemoved,
        NotebookSettings,
        NotebookWanted,
    )

KEEPER = Path(__file__).resolve().with_name("keeper.py")
KERNEL = Path(__file__).resolve().with_name("kernel.py")
WITH_GPUS = Path(__file__).resolve().with_name("with_gpus.py")
ASK_GPUS = Path(__file__).resolve().with_name("ask_gpus.py")


def prepare(request: "NotebookWanted", channel: Channel) -> "NotebookPrepared":
    """{project, server, side, environment, idle, end_at?, gpus?, image?, isolate?, volumes?, keep?} -> {id, argv, cwd}:
    what the service is started with. Errors: NOT_FOUND without a workspace, NODE_UNFIT where the image runs no kernel.
    """
    place = NotebookFolder(channel.root, request["project"])
    if not place.workspace.code.is_dir():
        raise NodeError("NOT_FOUND", f"there is no workspace {place.project}", "flexrack workspace up")
    place.make()
    packages = sorted(Path(request["side"]).glob("lib/python3.*/site-packages"))
    if not packages:
        raise NodeError("NODE_UNFIT", f"{request['side']} is no Python environment")
    socket = place.socket()
    if request.get("image"):
        inside.check_kernel(place, request, packages[0], channel)
    place.state.unlink(missing_ok=True)
    write_config(place, socket, request, channel)
    write_kernels(place, request, packages[0], channel)
    settings: NotebookSettings = {
        "server": request["server"],
        "environment": request["environment"],
        "socket": str(socket),
        "idle": request["idle"],
        "end_at": request.get("end_at"),
        "environments": str(channel.environments),
    }
    if request.get("isolate") is not None:
        settings["order"] = inside.server_order(place, request, channel)
    write("notebook.settings", place.settings, settings)
    return {
        "id": place.service,
        "argv": [sys.executable, "-I", "-S", str(KEEPER), str(channel.root), place.project],
        "cwd": str(place.workspace.code),
    }


def write_config(place: NotebookFolder, socket: Path, request: "NotebookWanted", channel: Channel) -> None:
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
    if _each_enters(request):
        settings["ServerApp"]["terminado_settings"] = {
            "shell_command": inside.terminal_words(place, request, channel),
        }
    replace_file(place.config / "jupyter_server_config.json", json.dumps(settings))
    # Else Jupyter looks for settings of IPython 3 and notes that there were none, where it may not write.
    replace_file(place.config / "migrated", "")
    # Else a page asks, and then asks the internet; who says otherwise in it keeps that.
    news = place.config / "labconfig" / "default_setting_overrides.json"
    news.parent.mkdir(mode=0o700, exist_ok=True)
    told = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    replace_file(news, json.dumps(told))


def _each_enters(request: "NotebookWanted") -> bool:
    """Into the image, by itself: the server stays outside."""
    return bool(request.get("image")) and request.get("isolate") is None


def write_kernels(place: NotebookFolder, request: "NotebookWanted", side: Path, channel: Channel) -> None:
    """`python3` is the project's Python, whose own packages win: what makes it a kernel comes last. Found before the
    one of the server's environment, by JUPYTER_PATH.
    """
    run = [f"{request['environment']}/bin/python", str(KERNEL), str(side), "-f", "{connection_file}"]
    held = [*run[:3], "--held", *run[3:]]
    order = inside.kernel_order(place, request) if _each_enters(request) else None
    # Between the server and a kernel that is held is a process that a signal would end, so it is told by a message.
    by_message = {"interrupt_mode": "message"}
    if order is None:
        start: Dict[str, Any] = {"argv": run}
    else:
        start = {"argv": enter_words(channel.root, channel.environments, order, held), **by_message}
    write_kernel(place, "python3", {**start, "display_name": place.project, "language": "python"})
    gpus = request.get("gpus")
    kept = [one["pass"] for one in gpus.get("places", [])] if gpus else []
    held_passes.end_passes(place.path / "gpus.json", kept)
    if not gpus:
        (place.path / "gpus.json").unlink(missing_ok=True)
        shutil.rmtree(place.kernels / "kernels" / "gpu", ignore_errors=True)
        return
    replace_file(place.path / "gpus.json", json.dumps({**gpus, "order": order}))
    if request.get("isolate") is not None:  # it becomes the kernel; who holds the leases is outside
        start = {"argv": [run[0], "-I", "-S", str(ASK_GPUS), *run]}
    else:
        taking = [sys.executable, "-I", "-S", str(WITH_GPUS), str(channel.root), str(channel.environments)]
        start = {"argv": [*taking, place.project, *held], **by_message}
    write_kernel(place, "gpu", {**start, "display_name": f"{place.project}, {gpus['text']}", "language": "python"})


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
    stopped = services.stop({"id": place.service, "remove": True}, channel)["stopped"]
    there = place.path.is_dir()
    held_passes.end_passes(place.path / "gpus.json")
    shutil.rmtree(place.path, ignore_errors=True)
    remove_sockets(channel.root, place.path)
    environment_users.release({"user": f"notebook:{place.project}"}, channel)
    return {"stopped": stopped, "removed": there}

"""board.find, .prepare, .access, .look, .read, .append, .remove: what a board of TensorBoard shows,
and how it is reached. The service's verbs start and end it.
"""

import base64
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.board import events
from flexrack_node.board.folder import BoardFolder
from flexrack_node.runs.view import open_view
from flexrack_node.service import control as services
from flexrack_node.workspace import environment_users

if TYPE_CHECKING:
    from flexrack_node.schema.board import (
        BoardAccess,
        BoardAppended,
        BoardId,
        BoardPieces,
        BoardPrepared,
        BoardQuestion,
        BoardRead,
        BoardReadEnd,
        BoardRemoved,
        BoardSeen,
        BoardWanted,
        EventsFound,
    )

SERVER = Path(__file__).resolve().with_name("serve.py")
_PIECE = 256 * 1024


def find(request: "BoardQuestion", channel: Channel) -> "EventsFound":
    """{run, rank?} -> the event files of a run that lie here. Errors: NOT_FOUND."""
    view = open_view(channel.root, request["run"])
    found = events.find(view, request.get("rank"))
    return {"live": view.is_live(), "files": found.files, "looked": found.looked, "whole": found.whole}


def prepare(request: "BoardWanted", channel: Channel) -> "BoardPrepared":
    """{id, runs, rank?, idle, server} -> {id, argv, cwd}: what the service is started with. What earlier boards have
    left goes.
    """
    tidy(channel)
    place = BoardFolder(channel.root, request["id"])
    place.make()
    write(
        "board.settings",
        place.settings,
        {
            "runs": request["runs"],
            "rank": request.get("rank"),
            "idle": request["idle"],
            "socket": str(place.socket()),
        },
    )
    argv = [f"{request['server']}/bin/python", "-I", str(SERVER), str(channel.root), place.id]
    return {"id": place.service, "argv": argv, "cwd": str(place.path)}


def tidy(channel: Channel) -> None:
    """Boards that ended by themselves, or with the machine."""
    folder = channel.root / "boards"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
        place = BoardFolder(channel.root, name)
        if (
            time.time() - place.path.stat().st_mtime > 60
            and services.status({"id": place.service}, channel)["state"] not in services.ALIVE
        ):
            remove({"id": name}, channel)


def access(request: "BoardId", channel: Channel) -> "BoardAccess":
    """Where it listens, and the token, for who may log in here anyway. Errors: NOT_FOUND where there is none."""
    place, settings = opened(request, channel)
    return {"socket": settings["socket"], "token": place.token.read_text()}


def look(request: "BoardId", channel: Channel) -> "BoardSeen":
    """{id} -> {service, seen}: what its service does, and what its server saw last; null before it has seen anything.
    Errors: NOT_FOUND.
    """
    place, _settings = opened(request, channel)
    return {
        "service": services.status({"id": place.service}, channel),
        "now": time.time(),
        "seen": read("board.state", place.state),
    }


def opened(request: "BoardId", channel: Channel) -> Any:
    place = BoardFolder(channel.root, request["id"])
    settings = read("board.settings", place.settings)
    if settings is None:
        raise NodeError("NOT_FOUND", f"there is no board {place.id} any more", "flexrack runs tensorboard")
    return place, settings


def read_pieces(request: "BoardRead", channel: Channel) -> "BoardReadEnd":
    """{files: [{path, offset, bytes}]}: chunk events {data: base64} of event files, one after the
    other; {bytes: [n]}, each at most what was asked for.
    """
    sizes: List[int] = []
    for one in request["files"]:
        left, sent = int(one["bytes"]), 0
        if events.EVENT.fullmatch(os.path.basename(one["path"])) and events.is_plain(one["path"]):
            with open(one["path"], "rb") as file:
                file.seek(int(one["offset"]))
                for piece in iter(lambda: file.read(min(_PIECE, left - sent)), b""):  # noqa: B023 (used before they change)
                    channel.event("chunk", data=base64.b64encode(piece).decode())
                    sent += len(piece)
        sizes.append(sent)
    return {"bytes": sizes}


def append(request: "BoardPieces", channel: Channel) -> "BoardAppended":
    """{id, pieces: [{file, offset, bytes}]} and their bytes one after the other -> {sizes}: how much of each file there
    is now.

    A piece that does not begin where its file ends is passed over: the answer says where to go on.
    Errors: NOT_FOUND, CONFLICT for a name that leads elsewhere.
    """
    place, _settings = opened({"id": request["id"]}, channel)
    sizes: List[int] = []
    for piece in request["pieces"]:
        path = place.place(piece["file"])
        data = channel.body.read(int(piece["bytes"]))
        if len(data) < int(piece["bytes"]):
            raise NodeError("CONFLICT", f"{path.name} came in parts", "run the command again", retry=True)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "ab"
        ) as file:
            if file.tell() == int(piece["offset"]):
                file.write(data)
            sizes.append(file.tell())
    return {"sizes": sizes}


def remove(request: "BoardId", channel: Channel) -> "BoardRemoved":
    """Ends the service, and removes the folder with the token and the copies. Event files stay where ranks have left
    them.
    """
    place = BoardFolder(channel.root, request["id"])
    settings = or_nothing(read("board.settings", place.settings))
    stopped = services.stop({"id": place.service, "remove": True}, channel)["stopped"]
    there = place.path.is_dir()
    shutil.rmtree(place.path, ignore_errors=True)
    if settings.get("socket"):
        Path(settings["socket"]).unlink(missing_ok=True)
    environment_users.release({"user": place.user}, channel)
    return {"stopped": stopped, "removed": there}

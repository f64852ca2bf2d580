"""TensorBoard in this process: on a socket of ours, behind the door, with links to event files as
they appear, until nobody looks any more.
"""

import contextlib
import logging
import os
import shutil
import socket
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

from tensorboard import default, program
from werkzeug.serving import WSGIRequestHandler, make_server

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.board import events
from flexrack_node.board.door import Door
from flexrack_node.board.folder import BoardFolder
from flexrack_node.board.said import Said
from flexrack_node.runs.view import open_view
from flexrack_node.service.record import ServiceRecord

_RELOAD_SECONDS = 5  # TensorBoard's own looks at the files
_LOOK_SECONDS = 5.0
_GRACE_SECONDS = 5.0


class Quiet(WSGIRequestHandler):  # type: ignore[misc]  # of another environment
    """The first request of a browser has the token in it, and the log would keep it."""

    def log(self, type: str, message: str, *args: Any) -> None:
        pass


class Server(program.TensorBoardServer):  # type: ignore[misc]
    """As TensorBoard wants one; `where` and `door` are set by who starts it."""

    where: Path
    token: str
    door: Optional[Door] = None

    def __init__(self, app: Any, flags: Any) -> None:
        Server.door = Door(app, self.token, flags.path_prefix)
        self.server = make_server(f"unix://{self.where}", 0, Server.door, threaded=True, request_handler=Quiet)

    def serve_forever(self) -> None:
        self.server.serve_forever()

    def get_url(self) -> str:
        return "http://localhost"

    def print_serving_message(self) -> None:
        pass


class Board:
    """`alone`: this process has a network of its own."""

    def __init__(self, place: BoardFolder, alone: bool) -> None:
        self.place = place
        self.alone = alone
        self.settings: Dict[str, Any] = dict(or_nothing(read("board.settings", place.settings)))
        self.idle = float(self.settings["idle"])
        self.said = Said(place.logs)
        self.whole = True

    def run(self) -> int:
        logger = logging.getLogger("tensorboard")
        logger.setLevel(logging.DEBUG)  # its data server is as talkative
        logger.propagate = False
        logger.addHandler(self.said)
        self.said.listen()
        self.link()
        Server.where, Server.token = Path(self.settings["socket"]), self.place.token.read_text()
        board = program.TensorBoard(default.get_plugins(), server_class=Server)
        board.configure(
            logdir=str(self.place.logs),
            load_fast="auto" if self.alone else "false",
            extra_data_server_flags="--checksum",
            reload_interval=_RELOAD_SECONDS,
            reload_multifile=True,
            path_prefix=f"/{self.place.id}",
            window_title=", ".join(self.settings["runs"]),
        )
        board.launch()
        until = time.monotonic()
        while True:
            ends_in = self.ends_in()
            self.tell(ends_in)
            if ends_in is not None and ends_in <= 0:
                return self.end()
            time.sleep(
                min(_LOOK_SECONDS, 0.2 if self.said.loads == 0 else _LOOK_SECONDS, max(0.1, ends_in or _LOOK_SECONDS))
            )
            if time.monotonic() > until:
                self.link()
                until = time.monotonic() + _LOOK_SECONDS

    def link(self) -> None:
        """The event files of this node; a run that is removed meanwhile takes its own along."""
        whole = True
        for run in self.settings["runs"]:
            try:
                found = events.find(open_view(self.place.root, run), self.settings.get("rank"))
            except (NodeError, OSError):
                continue
            whole = whole and found.whole
            for file in found.files:
                target = self.place.place(file)
                if os.path.lexists(target):
                    continue
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    target.symlink_to(file["path"])
        self.whole = whole

    def ends_in(self) -> Optional[float]:
        return self.idle - (time.monotonic() - Server.door.used) if self.idle and Server.door else None

    def tell(self, ends_in: Optional[float], ended: Optional[str] = None) -> None:
        files, size = 0, 0
        for folder, _folders, names in os.walk(self.place.logs):
            for name in names:
                with contextlib.suppress(OSError):
                    size += os.stat(os.path.join(folder, name)).st_size
                    files += 1
        damaged: List[Any] = [{"file": file, "why": why} for file, why in sorted(self.said.damaged.items())]
        state: Any = {
            "ready": is_listening(self.settings["socket"]),
            "loaded": self.said.loads > 0,
            "at": time.time(),
            "ends_at": None if ends_in is None else time.time() + ends_in,
            "ended": ended,
            "files": files,
            "bytes": size,
            "damaged": damaged,
            "whole": self.whole,
        }
        write("board.state", self.place.state, state, durable=False)

    def end(self) -> int:
        """The service ends, and copies go at once; what tells of it stays until somebody asks."""
        self.tell(None, ended="idle")
        shutil.rmtree(self.place.logs, ignore_errors=True)
        Path(self.settings["socket"]).unlink(missing_ok=True)
        ServiceRecord(self.place.root, self.place.service).end_from_within(_GRACE_SECONDS)
        return 0


def is_listening(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect(path)
        except OSError:
            return False
        return True

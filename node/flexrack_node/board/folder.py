"""Where a board keeps what is its own.

<root>/boards/<id>/settings.json   which runs it shows, and for how long
                  /state.json      what its server saw last (board/serve.py)
                  /token           0600
                  /logs/RUN/attempt-N/rank-R/FOLDER/FILE    links to event files here; copies of those of other nodes
                  /tmp             of TensorBoard
<root>/s/<8 hex>                   the socket
"""

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Mapping, Union

from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.short_socket import short_socket
from flexrack_node.base.stored import replace_file
from flexrack_node.board.events import EVENT

if TYPE_CHECKING:
    from flexrack_node.schema.board import EventFile

_ID = re.compile(r"[a-z0-9]{4,32}")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class BoardFolder:
    """Paths only; makes nothing by itself. Errors: USAGE for what is no id."""

    def __init__(self, root: Path, board: str) -> None:
        if not _ID.fullmatch(board):
            raise NodeError("USAGE", f"{board!r} is no board")
        self.root = root
        self.id = board
        self.service = f"board-{board}"
        self.user = f"board:{board}"
        self.path = root / "boards" / board
        self.settings = self.path / "settings.json"
        self.state = self.path / "state.json"
        self.token = self.path / "token"
        self.logs = self.path / "logs"
        self.tmp = self.path / "tmp"

    def make(self) -> None:
        record(self.root, self.path, "board")
        for folder in (self.path.parent, self.path, self.logs, self.tmp):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.token.exists():
            replace_file(self.token, secrets.token_hex(24))

    def socket(self) -> Path:
        """The same for as long as the board is there. Errors: those of short_socket."""
        return short_socket(self.root, self.path)

    def place(self, file: "Union[EventFile, Mapping[str, object]]") -> Path:
        """Where an event file is shown. Another node said what it is called: CONFLICT for a name that would lead out of
        the folder.
        """
        run, attempt, rank, node, folder, name = (
            file[key]  # type: ignore[literal-required]
            for key in ("run", "attempt", "rank", "node", "folder", "name")
        )
        whose = f"rank-{int(str(rank))}" if rank is not None else f"node-{node}"
        parts = [
            str(run),
            f"attempt-{int(str(attempt))}",
            whose,
            *(str(folder).split("/") if folder else []),
            str(name),
        ]
        if (
            not _RUN.fullmatch(parts[0])
            or not EVENT.fullmatch(parts[-1])
            or any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts)
        ):
            raise NodeError("CONFLICT", f"not the name of an event file: {'/'.join(parts)!r}")
        return self.logs.joinpath(*parts)

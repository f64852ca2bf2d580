"""Boards: TensorBoard over the event files of runs. Times in seconds since 1970, by the node's clock. Generated from protocol/board.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict

from flexrack_node.schema.service import ServiceState


class EventFile(TypedDict):
    """An event file of TensorBoard, and whose it is."""
    run: str
    attempt: int
    rank: Optional[int]
    node: str
    folder: str
    name: str
    bytes: int
    path: str


class _BoardQuestion(TypedDict):
    run: str


class BoardQuestion(_BoardQuestion, total=False):
    rank: int


class EventsFound(TypedDict):
    live: bool
    files: List[EventFile]
    looked: List[str]
    whole: bool


class _BoardWanted(TypedDict):
    id: str
    runs: List[str]
    idle: float
    server: str


class BoardWanted(_BoardWanted, total=False):
    rank: int


class BoardPrepared(TypedDict):
    """What its service is started with."""
    id: str
    argv: List[str]
    cwd: str


class BoardSettings(TypedDict):
    """What a board was started with, for its server."""
    runs: List[str]
    rank: Optional[int]
    idle: float
    socket: str


class BoardId(TypedDict):
    id: str


class BoardAccess(TypedDict):
    socket: str
    token: str


class DamagedFile(TypedDict):
    file: str
    why: str


class BoardState(TypedDict):
    """What a board's server saw last."""
    ready: bool
    loaded: bool
    at: float
    ends_at: Optional[float]
    ended: Optional[Literal["idle"]]
    files: int
    bytes: int
    damaged: List[DamagedFile]
    whole: bool


class BoardSeen(TypedDict):
    service: ServiceState
    now: float
    seen: Optional[BoardState]


class BoardRange(TypedDict):
    path: str
    offset: int
    bytes: int


class BoardRead(TypedDict):
    files: List[BoardRange]


class BoardChunk(TypedDict):
    event: Literal["chunk"]
    data: str


class BoardReadEnd(TypedDict):
    bytes: List[int]


class BoardPiece(TypedDict):
    file: EventFile
    offset: int
    bytes: int


class BoardPieces(TypedDict):
    id: str
    pieces: List[BoardPiece]


class BoardAppended(TypedDict):
    sizes: List[int]


class BoardRemoved(TypedDict):
    stopped: bool
    removed: bool

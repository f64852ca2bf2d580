"""The head's files on its node. Generated from protocol/head.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Optional, TypedDict

from flexrack_node.schema.service import ComesBack


class HeadQuestion(TypedDict):
    nodes: List[str]
    oldest: List[int]
    programs: List[str]


class NodeProgramFound(TypedDict):
    path: str
    version: str


class HeadNode(TypedDict):
    folder: str
    system: str
    machine: str
    libc: str
    node: Optional[NodeProgramFound]
    placed: List[str]
    memory_free: Optional[int]
    comes_back: ComesBack


class _ProgramFile(TypedDict):
    name: str
    sha256: str


class ProgramFile(_ProgramFile, total=False):
    executable: bool


class FilePlaced(TypedDict):
    path: str


class HeadConfigured(TypedDict):
    """config.json is made of this."""
    config: Dict[str, Any]


class HeadFollowToken(TypedDict):
    """With what a standby follows its head."""
    token: str
    ca: str


class HeadKept(TypedDict):
    keep: List[str]


class FilesRemoved(TypedDict):
    removed: List[str]


class _ListenerRecord(TypedDict):
    pid: int
    port: int
    url: str


class ListenerRecord(_ListenerRecord, total=False):
    """listener.json: written once the head listens."""
    address: str
    plainPort: int


class _HeadAccess(TypedDict):
    listener: Optional[ListenerRecord]
    token: Optional[str]
    ca: Optional[str]


class HeadAccess(_HeadAccess, total=False):
    follows: Optional[str]
    quotas: bool

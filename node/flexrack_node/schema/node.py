"""The node itself: what flexrack put there, and its removal. Generated from protocol/node.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.workspace import RunningProcess


class Nothing(TypedDict):
    pass


class UninstallEntry(TypedDict):
    path: str
    kind: str
    at: str
    inside: bool
    kept: Optional[str]


class NodeInstalled(TypedDict):
    root: str
    entries: List[UninstallEntry]
    alive: List[RunningProcess]
    outside: List[str]


class UninstallOrder(TypedDict, total=False):
    force: bool
    grace: float


class PathLeft(TypedDict):
    path: str
    why: str


class Uninstalled(TypedDict):
    removed: List[str]
    left: List[PathLeft]
    ended: int


class UninstallProgress(TypedDict):
    event: Literal["progress"]
    detail: str


class FactsQuestion(TypedDict, total=False):
    peers: Dict[str, str]
    ports: List[List[Union[str, int]]]
    seconds: float

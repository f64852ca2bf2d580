"""Python environments of a node, shared by content. Generated from protocol/environment.json by `npm run protocol`; for type checkers alone."""
from __future__ import annotations

from typing import List, Literal, Optional, TypedDict


class _EnvironmentContent(TypedDict):
    requirements: str


class EnvironmentContent(_EnvironmentContent, total=False):
    """The same content gives the same environment, whoever asks."""
    constraints: str
    python: str


class Asker(TypedDict):
    command: str
    node: str


class EnvironmentWanted(EnvironmentContent, total=False):
    user: str
    owner: str
    asker: Asker


class LockHolder(TypedDict, total=False):
    """Who holds a lock."""
    pid: int
    user: str
    host: str
    since: int
    purpose: str
    owner: Optional[str]
    asker: Optional[Asker]


class EnvironmentMade(TypedDict):
    hash: str
    path: str
    built: bool
    python: str


class EnvironmentPlanned(TypedDict):
    hash: str
    path: str
    ready: bool
    python: str


class EnvironmentUser(TypedDict):
    """What uses an environment, and flexrack's folder of the node that it is on."""
    user: str
    root: str


class EnvironmentNote(EnvironmentUser, total=False):
    at: float
    machine: str
    pid: Optional[int]
    start: Optional[str]


class EnvironmentEntry(TypedDict):
    hash: str
    path: str
    ready: bool
    python: Optional[str]
    built_at: Optional[float]
    requirements: List[str]
    users: List[EnvironmentNote]


class EnvironmentUse(TypedDict):
    user: str


class EnvironmentsReleased(TypedDict):
    released: List[str]


class EnvironmentsUnwanted(TypedDict, total=False):
    hashes: List[str]
    ignoring: List[EnvironmentUser]
    dry_run: bool


class EnvironmentKept(TypedDict):
    hash: str
    users: List[EnvironmentNote]
    pids: List[int]


class EnvironmentsGone(TypedDict):
    removed: List[str]
    bytes: int
    kept: List[EnvironmentKept]


class _BuildProgressEvent(TypedDict):
    event: Literal["progress"]


class BuildProgressEvent(_BuildProgressEvent, total=False):
    detail: str
    done: int
    total: int
    unit: Literal["bytes"]


class WaitingEvent(TypedDict):
    """Somebody else holds a lock."""
    event: Literal["waiting"]
    purpose: str
    holder: LockHolder
    text: str


class StillBuilding(TypedDict):
    """Nothing new: a caller that has gone is noticed by it."""
    event: Literal["alive"]

"""Sync: a workspace's code becomes the same as the project. Generated from protocol/sync.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union

EntryKind = Literal["f", "l", "d"]

EntryLine = List[Union[str, EntryKind, bool]]

InventoryLine = List[Union[str, Union[Literal[""], EntryKind], bool]]


class _SyncQuestion(TypedDict):
    project: str
    tree: str


class SyncQuestion(_SyncQuestion, total=False):
    bases: List[str]


class LastSync(TypedDict, total=False):
    """Who brought the code there last."""
    owner: Optional[str]
    source: Optional[str]
    at: float
    files: int
    tree: str


class _Compared(TypedDict):
    same: bool
    revision: str
    path: str
    last: Optional[LastSync]


class Compared(_Compared, total=False):
    """What a node has of a project."""
    base: Optional[str]
    inventory: List[InventoryLine]
    edited: List[EntryLine]
    staged: List[str]


class _SyncOrder(TypedDict):
    project: str
    tree: str
    revision: str
    put: List[EntryLine]
    remove: List[str]
    forget: List[str]
    send: List[List[Union[str, int]]]


class SyncOrder(_SyncOrder, total=False):
    overwrite: bool
    packed: bool
    owner: str
    source: str


class _ChangesQuestion(TypedDict):
    project: str


class ChangesQuestion(_ChangesQuestion, total=False):
    paths: List[str]

EditedFile = List[Union[str, Union[Literal[""], EntryKind], bool]]

OwnFile = List[Union[str, int, bool]]

OwnFolder = List[Union[str, int]]


class WorkspaceChanges(TypedDict):
    """What a workspace has that its project does not."""
    path: str
    edited: List[EditedFile]
    own: List[OwnFile]
    many: List[OwnFolder]


class Contents(TypedDict):
    project: str
    paths: List[str]


class ContentEvent(TypedDict):
    """A piece of a file; the pieces of all files come in order."""
    event: Literal["content"]
    path: str
    data: str


class ContentsSent(TypedDict):
    files: Dict[str, Optional[str]]


class Applied(TypedDict):
    revision: str
    path: str

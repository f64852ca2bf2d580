"""What workspaces were before: snapshots by restic, on the node. Ids of snapshots have 64 hex digits; times are seconds since 1970. Generated from protocol/history.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict

from flexrack_node.schema.service import ComesBack


class HistoryProject(TypedDict):
    project: str


class HistoryInspected(TypedDict):
    every: Optional[float]
    exclude: List[str]
    largest: Optional[int]
    running: bool
    restic: Optional[str]
    lacks: Optional[str]
    why: Optional[str]
    hint: Optional[str]


class ResticPackage(TypedDict):
    """A package of Debian, which follows as the body."""
    name: str
    sha256: str


class ResticPlaced(TypedDict):
    path: str


class _HistoryWanted(TypedDict):
    project: str
    every: float
    exclude: List[str]


class HistoryWanted(_HistoryWanted, total=False):
    largest: Optional[int]


class HistoryOn(TypedDict):
    comes_back: ComesBack
    restic: str
    version: str


class HistoryOff(TypedDict):
    stopped: bool


class SavedNow(TypedDict):
    snapshot: Optional[str]
    made: bool
    added: int
    unreadable: List[str]


class HistoryRenewed(TypedDict):
    aside: str


class _HistoryQuestion(TypedDict):
    project: str


class HistoryQuestion(_HistoryQuestion, total=False):
    path: str


class LeftOutOfHistory(TypedDict):
    """What of a workspace is not saved."""
    path: str
    why: Literal["excluded", "program", "large", "many"]
    files: int
    bytes: int


class HistorySnapshot(TypedDict):
    id: str
    at: float
    kind: Literal["autosave", "asked", "before-restore", "run"]
    runs: List[str]


class FileVersion(TypedDict):
    """The first snapshot that has a path so."""
    id: str
    at: float
    kind: str
    what: str
    bytes: Optional[int]
    changed_at: Optional[float]


class HistoryFound(TypedDict):
    project: str
    path: str
    there: bool
    every: Optional[float]
    running: bool
    now: float
    looked_at: Optional[float]
    saved_at: Optional[float]
    files: Optional[int]
    bytes: Optional[int]
    left: List[LeftOutOfHistory]
    left_count: int
    unreadable: List[str]
    error: Optional[str]
    hint: Optional[str]
    damage: Optional[str]
    snapshots: List[HistorySnapshot]
    versions: List[FileVersion]


class _HistoryDiff(TypedDict):
    project: str
    text: bool


class HistoryDiff(_HistoryDiff, total=False):
    at: float
    snapshot: str
    run: str
    path: str


class HistoryChange(TypedDict):
    path: str
    what: Literal["made", "removed", "changed", "mode"]
    bytes: int
    lines: Optional[str]


class HistoryDiffed(TypedDict):
    snapshot: str
    at: float
    changes: List[HistoryChange]


class _HistoryWish(TypedDict):
    project: str
    in_place: bool


class HistoryWish(_HistoryWish, total=False):
    at: float
    snapshot: str
    run: str
    path: str
    remove: bool
    dry_run: bool


class RestoredFile(TypedDict):
    path: str
    what: Literal["made", "replaced", "removed"]
    bytes: int


class HistoryRestored(TypedDict):
    snapshot: str
    at: float
    folder: Optional[str]
    files: List[RestoredFile]
    before: Optional[str]
    lost: List[str]
    count: int
    bytes: int


class HistoryDiscard(TypedDict):
    project: str
    folder: str


class HistoryDiscarded(TypedDict):
    removed: bool


class RepositoryFile(TypedDict):
    path: str
    bytes: int


class HistoryFiles(TypedDict):
    path: str
    config: str
    files: List[RepositoryFile]


class HistoryKey(TypedDict):
    key: str


class HistorySettings(TypedDict):
    """What workspace.autosave asked for last."""
    every: Optional[float]
    exclude: List[str]
    largest: Optional[int]


class HistoryState(TypedDict, total=False):
    """What was saved last, and what failed."""
    at: float
    saved_at: float
    snapshot: str
    fingerprint: str
    files: int
    bytes: int
    left: List[LeftOutOfHistory]
    left_count: int
    unreadable: List[str]
    error: Optional[str]
    hint: Optional[str]
    error_at: float
    tidied_at: float
    tidied_part: int
    damage: Optional[str]


class HistoryCodes(TypedDict):
    """Snapshots by the digest of the code that runs ran."""
    codes: Dict[str, str]

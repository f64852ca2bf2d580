"""Python environments of a node, shared by content. Generated from protocol/environment.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict


class ProjectToInstall(TypedDict):
    """The project of a workspace is in the environment itself, editable: its modules are those of the code folder, and its programs are there."""
    workspace: str
    name: str
    folder: str
    digest: str


class _EnvironmentContent(TypedDict):
    requirements: str


class EnvironmentContent(_EnvironmentContent, total=False):
    """The same content gives the same environment, whoever asks."""
    constraints: str
    python: str
    project: ProjectToInstall
    image: str


class _UvOrder(TypedDict):
    version: str
    oldest: str
    lock: str


class UvOrder(_UvOrder, total=False):
    """Which uv builds environments."""
    without: str


class _DownloadWay(TypedDict):
    proxy: str
    settings: Dict[str, str]


class DownloadWay(_DownloadWay, total=False):
    """Packages come through the caller, for as long as this call."""
    certificates: str
    mirrored: bool
    instead: bool


class Asker(TypedDict):
    command: str
    node: str


class EnvironmentWanted(EnvironmentContent, total=False):
    pins: str
    user: str
    owner: str
    uv: UvOrder
    download: DownloadWay
    asker: Asker


class _ShareWanted(TypedDict):
    download: DownloadWay


class ShareWanted(_ShareWanted, total=False):
    address: str


class _ShareOpen(TypedDict):
    event: Literal["open"]
    proxy: str
    secret: str


class ShareOpen(_ShareOpen, total=False):
    address: str
    port: int


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


class _ResolveWanted(EnvironmentContent):
    uv: UvOrder


class ResolveWanted(_ResolveWanted, total=False):
    download: DownloadWay
    universal: str


class Resolved(TypedDict):
    pins: Optional[str]


class ToolMissing(TypedDict):
    """Nothing was built: this is to be sent first, or the order to say why it cannot be."""
    missing: Literal["uv"]
    machine: str


class UvPlaced(TypedDict):
    path: str


class _UvWheel(TypedDict):
    version: str
    lock: str
    name: str
    sha256: str


class UvWheel(_UvWheel, total=False):
    """A wheel of uv, which follows as the body, or comes by the node's own proxy."""
    proxy: str


class _EnvironmentPlanned(TypedDict):
    hash: str
    path: str
    ready: bool
    python: str
    by: Literal["node", "flexrack", "uv", "image"]


class EnvironmentPlanned(_EnvironmentPlanned, total=False):
    versions: str


class EnvironmentUser(TypedDict):
    """What uses an environment, and flexrack's folder of the node that it is on."""
    user: str
    root: str


class EnvironmentNote(EnvironmentUser, total=False):
    node: Optional[str]
    since: int


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


class BuildWarning(TypedDict):
    """The build goes on, in another way than was asked for."""
    event: Literal["warning"]
    text: str


class WaitingEvent(TypedDict):
    """Somebody else holds a lock."""
    event: Literal["waiting"]
    purpose: str
    holder: LockHolder
    text: str


class StillBuilding(TypedDict):
    """Nothing new: a caller that has gone is noticed by it."""
    event: Literal["alive"]

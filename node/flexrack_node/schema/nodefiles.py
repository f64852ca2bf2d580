"""Files of a node that outlive who wrote them: each kind, where it is, the number of its shape, and what it holds beside `schema`, that number. Words in capitals stand for names. Generated from protocol/nodefiles.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict

from flexrack_node.schema.reservation import Had
from flexrack_node.schema.service import ComesBack, ProcessExit, ServiceOrder
from flexrack_node.schema.sweep import SweepRecord, Trial


class InstalledLine(TypedDict):
    """Something that flexrack put on the node."""
    path: str
    kind: str
    at: str


class KeptService(ServiceOrder):
    """What a service was started with."""


class ServiceProcess(TypedDict):
    pid: int
    start: Optional[str]


class _ServiceNote(TypedDict):
    status: str


class ServiceNote(_ServiceNote, total=False):
    """What a service's supervisor is doing."""
    restarts: int
    log_from: int
    pid: Optional[int]
    start: Optional[str]
    started_at: Optional[float]
    exit: Optional[ProcessExit]
    supervisor: ServiceProcess
    survivors: List[int]


class ServiceEnd(TypedDict):
    """Somebody asked for the end of a service."""
    grace: float
    spare: bool


class OwnMachine(TypedDict):
    """What tells a machine from others."""
    host: str
    machine: str
    addresses: List[str]


class KeptComeback(ComesBack):
    """What starts the node's services again after a reboot."""
    lingers_for_us: bool
    machine: OwnMachine
    environment: Dict[str, str]


class LogOffsets(TypedDict):
    """Offsets at which the older and the current part of a service's log begin."""
    older: int
    current: int

IndexEntry = List[Any]


class WorkspaceIndex(TypedDict):
    """What sync has put into a workspace."""
    revision: str
    tree: Optional[str]
    written_ns: int
    entries: Dict[str, IndexEntry]


class WorkspaceUses(TypedDict):
    """The environment that a workspace uses."""
    hash: str
    path: str
    python: str


class _EnvironmentBuilt(TypedDict):
    hash: str
    python: str
    platform: str
    requirements: List[str]
    built_at: int
    seconds: float
    node: Optional[str]


class EnvironmentBuilt(_EnvironmentBuilt, total=False):
    """An environment that is whole."""
    by: str
    image: str


class KeptEnvironmentUser(TypedDict):
    """Something that uses an environment."""
    user: str
    root: str
    node: Optional[str]
    since: int


class ProcessHeld(TypedDict):
    pid: int
    start: int


class KeptReservation(TypedDict):
    """A reservation, as all users of a node read it."""
    lease: str
    fence: int
    state: Literal["waiting", "prepared", "confirmed", "running"]
    boot: str
    heartbeat: float
    ttl: float
    since: float
    owner: str
    project: Optional[str]
    node: str
    nodes: List[str]
    root: str
    domain: str
    wants: Had
    holders: List[ProcessHeld]
    pidns: str


class KeptSweep(SweepRecord):
    """What a sweep tries."""
    sweep: str
    created: float


class KeptTrials(TypedDict):
    """The trials of a sweep, for those who only look."""
    status: Literal["running", "interrupted", "finished", "stopped", "failed"]
    at: float
    trials: List[Trial]
    importance: Optional[Dict[str, float]]


class SweepEnd(TypedDict):
    """Somebody asked for the end of a sweep."""
    at: float


class WorkspaceChange(TypedDict):
    """A change of the index since it was written whole; it counts where it follows the revision reached so far."""
    after: str
    revision: str
    tree: Optional[str]
    written_ns: int
    entries: Dict[str, Optional[IndexEntry]]


class DaemonAddress(TypedDict):
    """Where a GPU daemon answers; it writes and removes this itself."""
    pid: int
    started: int
    boot_id: str
    address: str
    port: int
    admin: str
    unix: str
    runtime: str
    backend: str
    protocol: int


class KeptShare(TypedDict):
    """A part of a device that a lease has."""
    device: str
    memory: int
    compute: int
    whole: bool


class _KeptLease(TypedDict):
    lease: str
    key: str
    granted: bool
    owner: str
    purpose: str
    created: int
    cap: int
    shares: List[KeptShare]


class KeptLease(_KeptLease, total=False):
    """A lease of a GPU daemon, with its key."""
    oversubscribed: bool


class KeptLeases(TypedDict):
    """The leases of a GPU daemon, for the next one of this folder; it writes and reads this itself."""
    leases: List[KeptLease]

"""Preflight: what a training needs of a node and of the ways to the others, and what can be mended. Generated from protocol/preflight.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class Mendable(TypedDict):
    """Something on a node that can be put right without root."""
    kind: Literal["processes", "temporary", "environment", "program", "workspace"]
    name: str
    detail: str
    bytes: int


class _MendQuestion(TypedDict):
    room: int


class MendQuestion(_MendQuestion, total=False):
    project: str


class MendList(TypedDict):
    items: List[Mendable]
    free: int


class MendChoice(TypedDict):
    kind: Literal["processes", "temporary", "environment", "program", "workspace"]
    name: str


class _MendOrder(TypedDict):
    items: List[MendChoice]


class MendOrder(_MendOrder, total=False):
    grace: float


class _Mended(MendChoice):
    bytes: int


class Mended(_Mended, total=False):
    why: str


class MendAnswer(TypedDict):
    done: List[Mended]
    free: int


class _PreflightStart(TypedDict):
    node: str
    leads: bool
    checks: List[str]


class PreflightStart(_PreflightStart, total=False):
    address: str
    secret: str
    project: str
    mpi: bool
    seconds: float
    open_seconds: float

NodePlace = List[Union[str, int]]


class ClockCommand(TypedDict):
    id: int
    do: Literal["clock"]


class ListenCommand(TypedDict):
    id: int
    do: Literal["listen"]


class _ReachCommand(TypedDict):
    id: int
    do: Literal["reach"]
    peers: Dict[str, List[Union[str, int]]]


class ReachCommand(_ReachCommand, total=False):
    rendezvous: NodePlace


class FloodCommand(TypedDict):
    id: int
    do: Literal["flood"]
    peer: NodePlace
    seconds: float


class FactsCommand(TypedDict):
    id: int
    do: Literal["facts"]

PreflightCommand = Union[ClockCommand, ListenCommand, ReachCommand, FloodCommand, FactsCommand]


class PreflightReady(TypedDict):
    event: Literal["ready"]
    machine: str

PreflightDone = Dict[str, Any]


class ClockAnswer(TypedDict):
    at: float


class _LinkFact(TypedDict):
    name: str
    up: bool


class LinkFact(_LinkFact, total=False):
    mtu: int
    speed: float


class ListenAnswer(TypedDict, total=False):
    port: int
    rendezvous: int
    interface: LinkFact
    failed: str


class WayAnswer(TypedDict, total=False):
    """What became of connecting."""
    ms: float
    error: Literal["refused", "silent", "route", "mute", "unverified", "large"]
    text: str


class _ReachAnswer(TypedDict):
    ways: Dict[str, WayAnswer]


class ReachAnswer(_ReachAnswer, total=False):
    rendezvous: WayAnswer


class FloodAnswer(TypedDict, total=False):
    bytes: int
    seconds: float
    error: str
    text: str

Limit = List[Optional[int]]


class ProcessLimits(TypedDict):
    open_files: Limit
    locked: Limit
    processes: Limit
    tasks_left: Optional[int]
    may_lock: bool


class SharedMemory(TypedDict):
    total: int
    free: int


class DiskState(TypedDict):
    path: str
    total: int
    free: int
    files: int
    free_files: int


class PortState(TypedDict):
    range: List[int]
    used: int


class _Versions(TypedDict):
    packages: Dict[str, str]


class Versions(_Versions, total=False):
    environment: str
    python: str
    mpi: Optional[str]


class RdmaState(TypedDict):
    device: str
    port: str
    state: str
    physical: str
    layer: str
    rate: str


class GpuProcess(TypedDict):
    pid: int
    used: Optional[int]
    command: str
    user: Optional[str]


class GpuState(TypedDict):
    """What nvidia-smi says of a GPU. Bytes; null where it is not told."""
    index: int
    uuid: str
    name: str
    driver: str
    total: Optional[int]
    used: Optional[int]
    free: Optional[int]
    processes: List[GpuProcess]


class Leftover(TypedDict):
    run: str
    pids: List[int]
    command: str


class _NodeState(TypedDict):
    missing: Dict[str, str]


class NodeState(_NodeState, total=False):
    """What a node measures by itself. Bytes and numbers; null: no limit. Only what the checks need is there."""
    limits: ProcessLimits
    shm: Optional[SharedMemory]
    disks: List[DiskState]
    ports: PortState
    versions: Versions
    rdma: List[RdmaState]
    gpus: List[GpuState]
    leftovers: List[Leftover]

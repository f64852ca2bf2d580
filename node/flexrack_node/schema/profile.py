"""What the profiles of a run's ranks tell. Generated from protocol/profile.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict


class OperatorTime(TypedDict):
    """All calls of an operator or kernel. Seconds; `self` is without what it called."""
    name: str
    calls: int
    self: float
    total: float


class DeviceTime(TypedDict):
    busy: float


class CollectiveTime(TypedDict):
    """Seconds in collectives, and the part of it in which something else was computed."""
    count: int
    seconds: float
    overlapped: float


class TraceSummary(TypedDict):
    """Sums over the recorded steps."""
    steps: int
    seconds: float
    device: Optional[DeviceTime]
    data_wait: float
    collectives: CollectiveTime
    operators: List[OperatorTime]
    kernels: List[OperatorTime]


class RankProfile(TypedDict):
    """The newest trace of a rank."""
    rank: int
    node: str
    attempt: int
    path: Optional[str]
    bytes: int
    summary: Optional[TraceSummary]
    note: Optional[str]


class NodeProfileWanted(TypedDict):
    skip: int
    steps: int


class NodeProfile(TypedDict):
    wanted: NodeProfileWanted
    live: bool
    ranks: List[RankProfile]


class ProfileInput(TypedDict):
    run: str


class TraceInput(TypedDict):
    run: str
    rank: int


class TraceChunk(TypedDict):
    event: Literal["chunk"]
    data: str


class TraceEnd(TypedDict):
    attempt: int

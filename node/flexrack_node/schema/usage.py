"""Usage: what runs had of a node. Generated from protocol/usage.json by `npm run protocol`; for type checkers alone."""
from typing import List, Optional, TypedDict


class UsageSince(TypedDict, total=False):
    since: float


class _UsageLine(TypedDict):
    run: str
    project: Optional[str]
    user: str
    node: str
    index: int
    attempt: int
    launcher: Optional[str]
    status: str
    started: float
    ended: float
    gpus: int
    cpu: Optional[float]
    ranks: int


class UsageLine(_UsageLine, total=False):
    """What one attempt of a run had of a node."""
    gpu_seen: Optional[float]
    gpu_busy: Optional[float]


class UsageReported(UsageLine):
    open: bool


class NodeUsage(TypedDict):
    account: str
    now: float
    entries: List[UsageReported]

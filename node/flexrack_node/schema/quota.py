"""What runs have and wait for, as the head knows it, and how much of it is allowed. Generated from protocol/quota.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict


class _QuotaLimit(TypedDict):
    most: float


class QuotaLimit(_QuotaLimit, total=False):
    soft: bool


class QuotaLimits(TypedDict, total=False):
    """What somebody may have together."""
    gpus: QuotaLimit
    gpu_hours: QuotaLimit
    runs: QuotaLimit
    notebooks: QuotaLimit
    endpoints: QuotaLimit
    servers: QuotaLimit
    disk: QuotaLimit


class HeldAmounts(TypedDict, total=False):
    """What it counts for each limit."""
    notebooks: float
    endpoints: float
    servers: float
    disk: float


class _HeadHolding(TypedDict):
    user: str
    teams: List[str]
    project: str
    amounts: HeldAmounts
    since: float


class HeadHolding(_HeadHolding, total=False):
    """What somebody has beside runs. Times in milliseconds since 1970."""
    until: float


class HeadHoldings(TypedDict):
    holdings: Dict[str, HeadHolding]


class HeadQuotas(TypedDict):
    """By `user:NAME`, `user:*` (each user without one), `team:NAME`, `project:NAME`."""
    quotas: Dict[str, QuotaLimits]


class ClaimPart(TypedDict):
    """What a run has of a node."""
    node: str
    gpus: List[str]
    exclusive: bool


class ClaimDiffers(TypedDict):
    at: float
    why: str


class _HeadClaim(TypedDict):
    user: str
    teams: List[str]
    project: str
    parts: List[ClaimPart]
    gpus: float
    priority: int
    limit: Optional[float]
    state: Literal["waiting", "held"]
    since: float
    seenAt: float


class HeadClaim(_HeadClaim, total=False):
    """What a run has, or waits for. Times in milliseconds since 1970."""
    heldAt: float
    token: str
    rack: Literal[True]
    differs: ClaimDiffers
    preemptible: Literal[True]
    yields: str


class UsedShare(TypedDict):
    """GPU hours that somebody had, the older the less, as they counted then."""
    hours: float
    at: float


class HeadClaims(TypedDict):
    claims: Dict[str, HeadClaim]
    used: Dict[str, UsedShare]
    month: str
    hours: Dict[str, float]

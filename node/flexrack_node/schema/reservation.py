"""Reservations: who may have a node or its GPUs. Generated from protocol/reservation.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict, Union


class Wants(TypedDict):
    """What a run wants of a node."""
    gpus: Union[Literal["all"], List[str]]
    slots: int
    exclusive: bool


class Had(TypedDict):
    """What a reservation has of a node."""
    gpus: List[str]
    slots: int
    exclusive: bool


class Reservation(TypedDict):
    """A lease on a node, or a place in line for one."""
    lease: str
    state: Literal["waiting", "prepared", "confirmed", "running"]
    user: str
    owner: str
    project: Optional[str]
    node: str
    nodes: List[str]
    since: float
    over: Optional[str]
    here: bool
    wants: Had
    silent: float
    ends_in: Optional[float]


class _TakeInput(TypedDict):
    lease: str
    owner: str
    node: str
    nodes: List[str]
    wants: Wants
    ttl: float


class TakeInput(_TakeInput, total=False):
    project: Optional[str]
    wait: bool
    since: float
    passes: List[str]
    look: bool


class TakeAnswer(TypedDict):
    granted: bool
    fence: Optional[int]
    since: float
    identity: str
    shared: bool
    gpus: List[str]
    holders: List[Reservation]


class LeaseFence(TypedDict):
    """A lease, and the fencing number with which it was granted."""
    lease: str
    fence: int


class Renewed(TypedDict):
    ttl: float


class _ReleaseInput(TypedDict):
    lease: str


class ReleaseInput(_ReleaseInput, total=False):
    own: bool
    wait: bool
    force: bool
    owner: str


class LeftReservation(Reservation):
    why: Literal["owner", "right", "running"]


class ReleaseAnswer(TypedDict):
    released: List[Reservation]
    left: List[LeftReservation]


class NodeReservations(TypedDict):
    shared: bool
    damaged: int
    identity: str
    reservations: List[Reservation]

"""What the nodes of a preflight say to each other on a connection (preflight/link.py), a line each. Generated from protocol/preflight_link.json by `npm run protocol`; for type checkers alone."""
from typing import Literal, TypedDict


class WayChallenge(TypedDict):
    """The listener."""
    challenge: str


class WayHello(TypedDict):
    """The caller: who it is, whom it means, and what it wants; `seconds`: of a flood."""
    caller: str
    listener: str
    what: Literal["reach", "flood"]
    seconds: float
    proof: str


class WayProof(TypedDict):
    """The listener."""
    proof: str


class FloodCount(TypedDict):
    """The listener: what came in the later part of the time."""
    bytes: int
    seconds: float

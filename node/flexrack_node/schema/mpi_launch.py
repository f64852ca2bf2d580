"""What the launchers of a run with Open MPI say to each other (rank/mpi_launch.py), and take from their supervisors. Generated from protocol/mpi_launch.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict


class MpiJob(TypedDict):
    """An attempt, as its launcher on a node gets it."""
    attempt: str
    place: str
    nodes: List[str]
    index: int
    processes: int
    address: str
    own: str
    port: int
    grace: float
    line: str
    deaf: bool


class MpiPlace(TypedDict):
    """Where a rank is that mpirun has started (FLEXRACK_MPI)."""
    index: int
    nodes: int
    processes: int
    scratch: str
    tmpdir: Optional[str]
    interface: Optional[str]
    address: str
    port: int


class MpiFollower(TypedDict, total=False):
    """One of them, by a node that follows: its Open MPI, the pid of its daemon, the status that this ended with."""
    version: Optional[str]
    started: int
    ended: int


class MpiOrder(TypedDict, total=False):
    """By the leader: arguments of the node's daemon and the port of its ranks' rendezvous; or whether mpirun is alive, once a daemon has ended."""
    orted: List[str]
    port: int
    alive: bool


class MpiAgentRequest(TypedDict):
    """What mpirun runs instead of ssh: the host, and the line for its shell."""
    host: str
    command: str


class MpiAgentAnswer(TypedDict, total=False):
    """One of them."""
    started: Literal[True]
    failed: str

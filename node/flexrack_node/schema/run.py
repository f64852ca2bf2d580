"""Runs: what a node is asked to run, and what it tells of that. Times in seconds since 1970, by the node's clock. Generated from protocol/run.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.order import Launcher, RunCode, RunData, RunUpload
from flexrack_node.schema.reservation import Had
from flexrack_node.schema.result import Cause, NodeRunStatus, RankRecord, Requeued, RunResult, RunUploaded
from flexrack_node.schema.watch import Hang


class SlurmState(TypedDict):
    """What Slurm says of a run's job."""
    job: Optional[str]
    state: Optional[str]
    reason: Optional[str]
    start: Optional[float]
    partition: Optional[str]
    source: Literal["squeue", "sacct", "records"]
    nodes: int
    requeued: Optional[Requeued]


class GangPlace(TypedDict):
    address: str
    port: int


class _NodeRun(TypedDict):
    run: str
    project: Optional[str]
    node: str
    index: int
    term: int
    leader: str
    committed: bool
    replaceable: bool
    nodes: List[str]
    processes: int
    launcher: Launcher
    created: float
    status: NodeRunStatus
    attempt: int
    live: bool
    exit: Optional[int]
    cause: Optional[Cause]
    started: Optional[float]
    ended: Optional[float]
    recorded: Optional[bool]
    tracked: Optional[str]


class NodeRun(_NodeRun, total=False):
    """A run as one of its nodes tells of it."""
    members: List[str]
    returned: int
    gang: Optional[GangPlace]
    slurm: SlurmState


class _NodeRunDetail(NodeRun):
    command: List[str]
    environment: Optional[str]
    commit: Optional[str]
    folder: str
    records: Dict[str, Dict[str, RankRecord]]
    alive: List[int]
    result: Optional[RunResult]


class NodeRunDetail(_NodeRunDetail, total=False):
    data: List[RunData]
    uploads: List[RunUpload]
    uploaded: Optional[RunUploaded]
    code: Optional[RunCode]
    hangs: List[Hang]


class _RunQuestion(TypedDict):
    run: str


class RunQuestion(_RunQuestion, total=False):
    wait: float


class _FollowInput(TypedDict):
    run: str


class FollowInput(_FollowInput, total=False):
    follow: bool
    offsets: Dict[str, int]
    news: int


class _ChunkEvent(TypedDict):
    event: Literal["chunk"]
    attempt: int
    file: str
    offset: int
    data: str


class ChunkEvent(_ChunkEvent, total=False):
    node: str


class _StateEvent(TypedDict):
    event: Literal["state"]
    status: str
    ended: bool


class StateEvent(_StateEvent, total=False):
    """state.json."""
    attempt: int
    pid: int
    started: float
    boot: str
    down: str
    down_at: float
    returned: int
    wants: Had
    gang: Optional[GangPlace]
    term: int
    leader: str
    members: List[str]
    places: Dict[str, List[Union[str, int]]]


class NewsEvent(TypedDict):
    """Whole lines of events.jsonl."""
    event: Literal["news"]
    offset: int
    lines: str


class QueueEvent(TypedDict):
    """What the queue says, at every change."""
    event: Literal["queue"]
    job: Optional[str]
    state: str
    reason: Optional[str]
    start: Optional[float]
    requeued: Optional[Requeued]


class BeatEvent(TypedDict):
    """Nothing new: a caller that has gone is noticed by it."""
    event: Literal["beat"]


class _RunStop(TypedDict):
    run: str


class RunStop(_RunStop, total=False):
    grace: float
    kill: bool


class _RunStopped(TypedDict):
    status: NodeRunStatus
    left: List[int]


class RunStopped(_RunStopped, total=False):
    """`state`: how it is there after that; not under Slurm, where the node speaks for all of the run's `nodes`."""
    nodes: List[str]
    state: NodeRun


class _RunToRemove(TypedDict):
    run: str


class RunToRemove(_RunToRemove, total=False):
    measure: bool


class KeptHere(TypedDict):
    """What is left on the node of runs of the same owner and project."""
    owner: str
    project: str
    bytes: int


class _RunRemoved(TypedDict):
    removed: str


class RunRemoved(_RunRemoved, total=False):
    kept: KeptHere


class _ReconcileInput(TypedDict):
    run: str


class ReconcileInput(_ReconcileInput, total=False):
    upstream: Optional[str]
    token: Optional[str]
    authorization: Optional[str]
    ca: Optional[str]
    seconds: float
    leads: bool


class _Reconciled(TypedDict):
    recorded: bool


class Reconciled(_Reconciled, total=False):
    why: str


class UnsentWrite(TypedDict):
    """A write that the tracking server has not taken, though the run's relay had acknowledged it."""
    call: str
    status: int
    answer: str
    at: float


class NodeUnsent(TypedDict):
    """What a node holds; `writes` are the newest."""
    count: int
    writes: List[UnsentWrite]


class RunRepaired(TypedDict):
    sent: int
    pending: int
    unsent: NodeUnsent


class RouteQuestion(TypedDict, total=False):
    to: str


class NodeAddress(TypedDict):
    name: str
    address: str
    netmask: str


class NodeRoute(TypedDict):
    machine: str
    interfaces: List[NodeAddress]
    outgoing: Optional[str]
    source: Optional[str]

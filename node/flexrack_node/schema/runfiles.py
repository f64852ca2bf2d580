"""Files of a run that outlive who wrote them: each kind, where it is, the number of its shape, and what it holds beside `schema`, that number. Words in capitals stand for names. Generated from protocol/runfiles.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.order import RunOrder
from flexrack_node.schema.reservation import Had
from flexrack_node.schema.result import RunAttempt
from flexrack_node.schema.run import GangPlace
from flexrack_node.schema.watch import Hang, RankStack


class KeptRunOrder(RunOrder, total=False):
    """What a run was started with, and where."""
    root: str
    data_folder: str
    inputs_folder: str
    attempts: List[RunAttempt]

MemberPlace = List[Union[str, int]]


class _RunState(TypedDict):
    status: Literal["unknown", "starting", "waiting", "running", "stopping", "recording", "ended"]


class RunState(_RunState, total=False):
    """What a run's supervisor is doing."""
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
    places: Dict[str, MemberPlace]


class _StopRequest(TypedDict):
    grace: float
    kill: bool
    by: str


class StopRequest(_StopRequest, total=False):
    """Somebody asked for the end of a run."""
    at: float


class SignalSeen(TypedDict):
    """A signal that the supervisor of a run under Slurm was sent."""
    at: float
    by: str


class KeptHang(Hang, total=False):
    """Ranks that made no progress, with all their stacks."""
    ranks: List[RankStack]

RunEventName = Union[Literal["started"], Literal["stopping"], Literal["ended"], Literal["restarting"], Literal["refused"], Literal["joined"], Literal["no port"], Literal["link lost"], Literal["asked about"], Literal["awaits"], Literal["put out"], Literal["put out came back"], Literal["came back"], Literal["leaving"], Literal["lost"], Literal["leader lost"], Literal["elected"], Literal["not elected"], Literal["follows"], Literal["stepped down"], Literal["gang lost"], Literal["makes room"], Literal["made room"], Literal["hang"], Literal["hang over"], Literal["checkpoint lost"], Literal["copied"], Literal["not copied"], Literal["copy not used"], Literal["fetched"], Literal["not fetched"], Literal["uploads begun"], Literal["uploads ended"], Literal["uploaded again"], Literal["uploaded"], Literal["not uploaded"], Literal["not recorded"], Literal["reconciled"], Literal["repaired"], Literal["no record"], Literal["record not sent"], Literal["relay closed"], Literal["tracking.away"], Literal["tracking.back"], Literal["tracking.failed"], Literal["tracking.full"], Literal["tracking.refused"], Literal["tracking.rejected"], Literal["reservation lost"], Literal["swept"], Literal["sampler failed"], Literal["gpu metrics lost"], Literal["metrics not written"], Literal["GPU jobs not written"], Literal["hardware not recorded"], Literal["usage not noted"], Literal["bug"]]

RunEvent = Dict[str, Any]


class RayPlace(TypedDict):
    """Where the Ray cluster of an attempt is, on the node of its head."""
    address: str
    dashboard: int


class StackRequest(TypedDict):
    """Somebody asks a node of a Slurm job for its ranks' stacks."""
    number: str
    rank: Optional[int]


class _StackAnswer(TypedDict):
    number: str


class StackAnswer(_StackAnswer, total=False):
    """The answer to the request of that number: stacks, or why there are none."""
    attempt: int
    ranks: List[RankStack]
    problem: str


class JobNumber(TypedDict):
    """Slurm's number of a run's job; `12_7` of task 7 of an array."""
    job: str


class _JobGang(TypedDict):
    nodes: List[str]
    address: str
    port: int
    hosts: Dict[str, str]
    reaches_all: bool


class JobGang(_JobGang, total=False):
    """The nodes of a run's job, and where its leader listens."""
    start: int
    attempts: List[RunAttempt]


class _QueueRow(TypedDict):
    job: Optional[str]
    state: str
    reason: Optional[str]
    start: Optional[float]
    nodes: str
    partition: Optional[str]
    source: Literal["squeue", "sacct", "records"]


class QueueRow(_QueueRow, total=False):
    """A job as squeue tells of it."""
    submitted: Optional[float]
    ended: Optional[float]
    limit: Optional[float]
    by: Optional[str]
    exit: Optional[str]
    restarts: int
    preempted: bool


class QueueSeen(TypedDict):
    requested: float
    seen: QueueRow


class QueueWatched(TypedDict):
    at: float
    sign: float
    since: float


class QueueError(TypedDict):
    at: float
    code: str
    message: str
    hint: Optional[str]


class QueueBoard(TypedDict):
    """What Slurm said last, for all who watch runs of one folder."""
    bin: Optional[str]
    jobs: Dict[str, QueueSeen]
    watched: Dict[str, QueueWatched]
    error: Optional[QueueError]


class _RelayWrite(TypedDict):
    method: str
    path: str
    type: str
    at: float


class RelayWrite(_RelayWrite, total=False):
    """A write that the tracking server has not taken yet."""
    body: str
    file: str


class RelayRejected(TypedDict):
    """A write that the tracking server did not take; `entry` is the line of the journal."""
    at: float
    method: str
    path: str
    status: int
    answer: str
    body: Optional[str]
    entry: Dict[str, Any]

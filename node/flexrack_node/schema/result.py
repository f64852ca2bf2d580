"""How a run ended: result.json, and the records of its ranks. Times in seconds since 1970, by the node's clock. Generated from protocol/result.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union


class _Cause(TypedDict):
    kind: Literal["rank", "launcher", "gang", "slurm", "hang", "upload"]
    node: str
    rank: Optional[int]
    exit: Optional[int]
    signal: Optional[str]
    at: float
    message: Optional[str]
    lines: List[str]
    others: List[int]


class Cause(_Cause, total=False):
    """Why a run failed: the first failure that was not a consequence of another."""
    lost: Literal["node", "supervisor", "link", "reboot"]
    stuck: int


class Requeued(TypedDict):
    """Whether Slurm has put a job back into its queue; why, where that is known."""
    times: int
    why: Optional[str]


class _RankBound(TypedDict):
    cpus: str
    memory: str


class RankBound(_RankBound, total=False):
    """What a rank was bound to: CPUs and memory, or why not; GPUs by UUID, or as `GPU0 of gpu2` where they are leased."""
    gpus: List[str]


class RankError(TypedDict, total=False):
    """What PyTorch's elastic launcher wrote of a rank's exception."""
    message: Optional[str]
    at: Optional[float]


class UploadDone(TypedDict):
    to: str
    files: int
    bytes: int
    links: int


class RunUploaded(TypedDict):
    """How far the uploads of an attempt are on a node."""
    status: Literal["running", "done", "failed"]
    uploads: List[UploadDone]
    why: Optional[str]


class _RankRecord(TypedDict):
    rank: int
    local_rank: int
    node: str
    started: float


class RankRecord(_RankRecord, total=False):
    """The record that a rank wrote. Without `exit` it is running, or was killed with everything around it."""
    attempt: int
    wrapper: int
    namespace: str
    pid: int
    born: int
    ended: float
    exit: int
    signal: Optional[str]
    cpu: float
    bound: RankBound
    error: Optional[RankError]
    tail: List[str]
    presumed: bool
    stopped: bool


class CheckpointAt(TypedDict):
    name: str
    node: str
    at: float


class _CheckpointReached(TypedDict):
    at: float


class CheckpointReached(_CheckpointReached, total=False):
    """The newest checkpoint that there was after an attempt; `name` is missing where there was none. Its time is in nanoseconds."""
    name: str
    node: str
    bytes: int
    place: Optional[List[Union[str, int]]]


class PaceOfRank(TypedDict):
    """As its node knows it."""
    steps: float
    step: float
    own: float
    data: float
    collectives: float
    synced: bool
    samples: float
    cpu_wait: float
    throttled: float


class RankPace(PaceOfRank):
    rank: int
    node: str


class SlowestRank(TypedDict):
    rank: int
    node: str
    own: float
    others: float
    factor: Optional[float]
    loss: float
    why: str
    message: str


class Pace(TypedDict):
    """How fast the ranks of an attempt were. Times in seconds a step."""
    ranks: List[RankPace]
    slowest: Optional[SlowestRank]


class RequeuedWhy(TypedDict):
    why: Optional[str]


class _RunAttempt(TypedDict):
    attempt: int
    status: Literal["finished", "failed", "stopped"]


class RunAttempt(_RunAttempt, total=False):
    """One start of the whole group."""
    started: float
    ended: float
    cause: Optional[Cause]
    survivors: Dict[str, List[int]]
    clean: bool
    lost: List[str]
    nodes: List[str]
    why: str
    changes: str
    checkpoint: Optional[CheckpointAt]
    reached: Optional[CheckpointReached]
    steps: Optional[int]
    pace: Optional[Pace]
    requeued: RequeuedWhy


class _SlurmEnd(TypedDict):
    job: Optional[str]
    state: Optional[str]
    source: Literal["squeue", "sacct", "records"]


class SlurmEnd(_SlurmEnd, total=False):
    """How the job of a run ended that Slurm placed."""
    requeued: Optional[Requeued]


class _GangOutcome(TypedDict):
    status: Literal["finished", "failed", "stopped"]
    cause: Optional[Cause]
    attempts: List[RunAttempt]


class GangOutcome(_GangOutcome, total=False):
    """What a gang came to: a result without what does not depend on the gang."""
    leader: str
    term: int
    partial: bool
    lost: bool
    refused: str
    refused_code: str
    slurm: SlurmEnd
    requeued: RequeuedWhy
    provisional: bool
    open: bool


class _RunResult(GangOutcome):
    exit: int
    started: float
    ended: float
    duration: float
    recorded: bool


class RunResult(_RunResult, total=False):
    """result.json: how a run ended."""
    run: str
    outputs: List[str]
    recorded_everywhere: bool
    reconciled: bool

NodeRunStatus = Literal["starting", "waiting", "running", "stopping", "recording", "finished", "failed", "stopped"]

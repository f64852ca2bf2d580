"""What is seen of a run while it goes: progress, pace, hangs, stacks, and what it uses. Generated from protocol/watch.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.result import NodeRunStatus


class HangSuspect(TypedDict):
    rank: int
    node: str
    why: str


class WaitingRanks(TypedDict):
    """Ranks that wait in the same collective operation."""
    collective: str
    number: int
    ranks: List[int]


class _HangVerdict(TypedDict):
    message: str
    seconds: float
    suspects: List[HangSuspect]
    lines: List[str]


class HangVerdict(_HangVerdict, total=False):
    """What stacks tell of ranks that made no progress."""
    waiting: List[WaitingRanks]


class Hang(HangVerdict):
    """Ranks that made no progress, as the run's leader saw it."""
    number: int
    attempt: int
    at: float
    action: Literal["report", "restart", "stop"]
    silent: List[str]


class StackFrame(TypedDict):
    file: str
    line: Optional[int]
    function: str


class StackThread(TypedDict):
    main: bool
    name: Optional[str]
    frames: List[StackFrame]


class KernelView(TypedDict):
    wchan: Optional[str]
    stack: List[str]


class RankProgress(TypedDict):
    """What a rank tells of itself, by the names of its progress file. Times in seconds, moments since 1970 (0: never)."""
    pid: int
    started_at: float
    updated_at: float
    steps: int
    step_at: float
    first_step_at: float
    step_seconds: float
    batches: int
    batch_at: float
    samples: int
    tokens: int
    data_wait: float
    data_since: float
    collectives: int
    collectives_done: int
    collective_at: float
    collective_seconds: float
    evaluated: int
    own_seconds: float
    collective: str
    last_collective: str
    median_step: Optional[float]
    median_own: Optional[float]
    median_collectives: Optional[float]


class _RankStack(TypedDict):
    rank: int
    node: str
    pid: int
    state: str
    cpu: float
    source: Literal["faulthandler", "py-spy", "kernel"]
    threads: List[StackThread]
    kernel: KernelView
    progress: Optional[RankProgress]
    note: Optional[str]


class RankStack(_RankStack, total=False):
    """What a rank was at, at one moment."""
    cwd: Optional[str]
    flight: Any


class SilentNode(TypedDict):
    node: str
    message: str


class _NodeStacks(TypedDict):
    node: str
    attempt: int
    ranks: List[RankStack]


class NodeStacks(_NodeStacks, total=False):
    """What a node tells; under Slurm the login node for all nodes of the job."""
    failed: List[SilentNode]


class _RankHardware(TypedDict):
    seconds: float
    cpu: Optional[float]
    peak: float


class RankHardware(_RankHardware, total=False):
    memory: Optional[float]


class _GpuHardware(TypedDict):
    seconds: float
    used: Optional[float]
    peak: float


class GpuHardware(_GpuHardware, total=False):
    memory: Optional[float]
    power: Optional[float]
    uuid: Optional[str]
    total: Optional[int]


class _AttemptHardware(TypedDict):
    seconds: float
    cpu: Optional[float]
    memory: Optional[float]
    net: List[float]
    rdma: Optional[List[float]]
    ranks: Dict[str, RankHardware]
    gpus: Dict[str, GpuHardware]


class AttemptHardware(_AttemptHardware, total=False):
    """Means and totals of an attempt on a node."""
    since: float
    until: float
    disk: List[float]


class _NodeHardware(TypedDict):
    interface: Optional[str]
    gpus: Optional[List[str]]
    cores: Optional[int]
    attempts: Dict[str, AttemptHardware]


class NodeHardware(_NodeHardware, total=False):
    """hardware.json."""
    machine: str
    memory_total: Optional[int]


class MeasuredPart(TypedDict):
    """What a node kept of a run."""
    node: str
    index: int
    hardware: Optional[NodeHardware]
    attempts: Dict[str, Dict[str, RankProgress]]


class _HardwareSample(TypedDict):
    t: float
    s: float
    attempt: int
    cpu: Optional[float]
    memory: Optional[float]
    net: List[float]
    rdma: Optional[List[float]]
    disk: List[float]
    ranks: Dict[str, List[float]]
    gpus: Dict[str, List[Optional[float]]]


class HardwareSample(_HardwareSample, total=False):
    """A line of hardware.jsonl."""
    logs: Dict[str, int]

RankReported = List[Union[int, Optional[float], float, str]]


class NodePart(TypedDict):
    """What one node tells of its part of a run."""
    node: str
    term: int
    leader: str
    status: Union[Literal["ended", "unknown"], NodeRunStatus]
    attempt: int
    cores: Optional[int]
    memory_total: Optional[int]
    gpu_memory: Dict[str, Optional[int]]
    ranks: Dict[str, Optional[RankReported]]
    hardware: Optional[HardwareSample]


class WatchEvent(TypedDict):
    event: Literal["watch"]
    at: float
    parts: List[NodePart]


class _WatchInput(TypedDict):
    run: str


class WatchInput(_WatchInput, total=False):
    every: float


class WatchEnd(TypedDict):
    over: bool


class _StacksInput(TypedDict):
    run: str


class StacksInput(_StacksInput, total=False):
    rank: Optional[int]


class NodeDashboard(TypedDict):
    """As the node reaches it; `token` opens it, and the cluster."""
    host: str
    port: int
    token: str


class RunName(TypedDict):
    run: str

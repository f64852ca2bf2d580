"""What a run is started with; a node keeps it as spec.json. Generated from protocol/order.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict

from flexrack_node.schema.image import BoundVolume, Isolate

Launcher = Literal["torchrun", "accelerate", "deepspeed", "ray", "mpi", "plain"]


class _CheckpointOrder(TypedDict):
    path: str


class CheckpointOrder(_CheckpointOrder, total=False):
    marker: str
    copies: int


class HangOrder(TypedDict):
    after: float
    action: Literal["report", "restart", "stop"]


class GangSize(TypedDict):
    min: int
    max: int


class _GangOrder(TypedDict):
    secret: str


class GangOrder(_GangOrder, total=False):
    """How the nodes of a run find and trust each other."""
    address: str
    port: int
    lost: float
    listen: int
    timeout: float


class _ReservationHeld(TypedDict):
    lease: str


class ReservationHeld(_ReservationHeld, total=False):
    fence: int


class _RankPlace(TypedDict):
    gpus: List[str]
    cpus: Optional[str]
    memory: List[int]


class RankPlace(_RankPlace, total=False):
    """What was chosen for a rank: GPUs by UUID, CPUs and memory, or leased GPUs as `GPU0 of gpu2`."""
    leased: List[str]


class HeldLeases(TypedDict):
    """Leases of the GPU daemons that the run's supervisor holds. Absolute paths."""
    keeper: str
    file: str
    folder: str
    libraries: Optional[str]
    env: Dict[str, str]


class _TrackingOrder(TypedDict):
    upstream: str
    token: str
    authorization: Optional[str]
    own_token: bool
    run_id: str
    experiment_id: str
    artifact_uri: str


class TrackingOrder(_TrackingOrder, total=False):
    ca: str


class ArrayTask(TypedDict):
    name: str
    task: int


class _SlurmOrder(TypedDict):
    nodes: int


class SlurmOrder(_SlurmOrder, total=False):
    """What is asked of Slurm, as far as the node needs it."""
    requeue: Literal[True]
    interface: str
    bin: str
    array: ArrayTask
    job: Optional[str]
    reaches_all: bool
    start: int


class _RunCode(TypedDict):
    workspace: str


class RunCode(_RunCode, total=False):
    """The code that a run has; all but the first is known once it has begun."""
    digest: str
    files: int
    bytes: int
    snapshot: str
    unsaved: str
    imports: List[str]


class RunData(TypedDict):
    name: str
    digest: str


RunInput = TypedDict("RunInput", {"name": "str", "from": "str"})


class RunUpload(TypedDict):
    """What goes to a bucket before the run is over."""
    to: str
    files: List[str]


class _RunParent(TypedDict):
    kind: Literal["run", "model"]
    name: str


class RunParent(_RunParent, total=False):
    """What a run began with, as its starter said: a run by its id, or a model version."""
    digest: str


class _RunOrigin(TypedDict):
    version: str
    machine: str
    rack: str
    arguments: List[str]


class RunOrigin(_RunOrigin, total=False):
    """What the command knows that starts a run, and its nodes do not."""
    parents: List[RunParent]


class RunOrderProfile(TypedDict):
    """Steps of the optimizer that each rank records with torch.profiler, after others; of these the last warms the profiler up."""
    skip: int
    steps: int


class _RunOrder(TypedDict):
    run: str
    project: str
    node: str
    index: int
    nodes: List[str]
    launcher: Launcher
    processes: int
    command: List[str]
    python: str
    environment: Optional[str]
    cwd: str
    env: Dict[str, str]
    restarts: int
    grace: float
    outputs: List[str]
    gang: GangOrder
    commit: Optional[str]
    created: float
    tracking: Optional[TrackingOrder]
    owner: str


class RunOrder(_RunOrder, total=False):
    scheduler: Literal["slurm"]
    slurm: SlurmOrder
    image: str
    isolate: Isolate
    container: str
    code: RunCode
    data: List[RunData]
    volumes: List[BoundVolume]
    inputs: List[RunInput]
    uploads: List[RunUpload]
    remotes: str
    checkpoint: CheckpointOrder
    after_reboot: Literal["checkpoint", "anew"]
    without_progress: int
    size: GangSize
    time_limit: float
    preemptible: Literal[True]
    watch: bool
    profile: RunOrderProfile
    hang: HangOrder
    sample_seconds: float
    textfile: str
    dcgm: str
    address: str
    neighbours: int
    reservation: ReservationHeld
    placed: List[RankPlace]
    leases: HeldLeases
    origin: RunOrigin

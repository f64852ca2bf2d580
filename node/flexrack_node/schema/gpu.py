"""GPUs that a node shares, and leases of them. Generated from protocol/gpu.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict

from flexrack_node.schema.leases import GpuPlace, LeaseTerms
from flexrack_node.schema.service import ComesBack

Backend = Literal["cuda", "opencl", "sim"]


SimSettings = TypedDict("SimSettings", {"devices": "int", "memory": "int", "profile": "str", "capability": "str", "driver": "str", "multiprocessors": "int", "machine-code": "Literal['accept']", "latency": "str", "bandwidth": "str", "fault": "str"}, total=False)


class _GpuOrder(TypedDict):
    program: str
    backend: Backend
    bind: List[str]
    transport: str
    trusted_fabric: bool
    grace: float
    env: Dict[str, str]


class GpuOrder(_GpuOrder, total=False):
    """What a node's daemon is started with; kept as settings.json."""
    driver: str
    nvml: str
    sim: SimSettings
    port: int


class _GpuQuestion(TypedDict):
    programs: List[str]


class GpuQuestion(_GpuQuestion, total=False):
    drivers: bool
    env: Dict[str, str]


class DriverFound(TypedDict):
    found: bool
    why: str


class _FoundDrivers(TypedDict):
    cuda: DriverFound


class FoundDrivers(_FoundDrivers, total=False):
    """OpenCL is looked for only where there is no CUDA."""
    opencl: DriverFound


class _GpuFound(TypedDict):
    folder: str
    system: str
    machine: str
    glibc: str
    placed: List[str]
    keeper: Literal["systemd", "supervisor"]
    comes_back: ComesBack
    running: bool
    pid: Optional[int]
    settings: Optional[GpuOrder]


class GpuFound(_GpuFound, total=False):
    """What is there of a daemon."""
    drivers: FoundDrivers


class GpuStarted(TypedDict):
    started: bool
    pid: int
    port: int
    keeper: Literal["systemd", "supervisor"]
    comes_back: ComesBack


class GpuStop(TypedDict, total=False):
    force: bool
    grace: float


class Withdrawn(TypedDict):
    """What was taken away on one node."""
    stopped: bool
    leases: int


class _LeaseRequest(TypedDict):
    devices: List[str]
    cap: bool
    owner: str
    purpose: str


class LeaseRequest(_LeaseRequest, total=False):
    whole: bool
    fraction: float
    memory: int
    compute: float


class LeaseId(TypedDict):
    lease: str


class LeaseFileDevice(TypedDict):
    name: str
    memory: int


class LeaseFileServer(TypedDict):
    node: str
    address: str
    port: int
    unix: str
    boot_id: str
    transport: str
    api: str
    lease: str
    key: str
    devices: List[LeaseFileDevice]


class MoveTarget(LeaseFileServer):
    """The lease there, as a lease file has it."""
    grace_seconds: float


class LeaseMove(TypedDict):
    """A lease that is to go to another node's daemon, where one like it was taken. Holds that one's key."""
    lease: str
    to: MoveTarget
    rest_seconds: int


class WayQuestion(TypedDict):
    unix: str
    boot_id: str
    loopback: Optional[str]
    addresses: List[str]
    port: int
    lease: str


class Reachable(TypedDict):
    """unix: it answers at its socket under this very kernel. address: the first at which it answers."""
    unix: bool
    address: Optional[str]


class LeaseFileMirror(TypedDict):
    """Two servers carry out the same (docs/adr/0080). on_mismatch: what follows where they differ."""
    on_mismatch: Literal["stop", "primary"]


class _LeaseFile(TypedDict):
    version: Literal[1]
    grace_seconds: float
    servers: List[LeaseFileServer]


class LeaseFile(_LeaseFile, total=False):
    """What the driver and flexrack-lease-keeper read (native/client/lease_file.h). Holds keys."""
    mirror: LeaseFileMirror


class LeaseDelivery(TypedDict):
    leases: LeaseFile
    keeper: str
    icd: Optional[str]
    libraries: Dict[str, str]


class DeliveredLeases(TypedDict):
    """Absolute paths."""
    folder: str
    file: str
    keeper: str
    vendors: Optional[str]
    libraries: Optional[str]


class DeliveryFolder(TypedDict):
    folder: str


GpuPass = TypedDict("GpuPass", {"pass": "str", "secret": "str", "bind": "List[str]", "port": "int", "daemon_port": "int"})


PassId = TypedDict("PassId", {"pass": "str"})


class PassEnded(TypedDict):
    ended: bool


class KeptPass(LeaseTerms):
    """A pass, where it is good. Times in seconds since 1970."""
    secret: str
    until: float


class GpuDoor(TypedDict):
    """Where the door listens."""
    bind: List[str]
    port: int


class GpuPlaces(TypedDict):
    places: List[GpuPlace]


class Knocked(TypedDict):
    """Whether a node is let in at another one, and reaches its daemon; else why not."""
    node: str
    problem: Optional[str]


class DeliveryForgotten(TypedDict):
    removed: bool

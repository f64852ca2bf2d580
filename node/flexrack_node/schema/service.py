"""Services: long-lived processes of a node, kept running by a supervisor there. Generated from protocol/service.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.leases import OwnLeases


class ServiceRestart(TypedDict):
    max: int
    window_seconds: float


class ServiceFront(TypedDict):
    """TLS before a service that listens on loopback, for who shows a client certificate of the authority in `ca`. All PEM."""
    listen: List[Union[str, int]]
    to: List[Union[str, int]]
    key: str
    certificate: str
    ca: str


class ServiceSocketLast(TypedDict):
    """Where the process tells the port of its last start: a key of a JSON file."""
    file: str
    key: str


class _ServiceSocket(TypedDict):
    host: str
    port: int


class ServiceSocket(_ServiceSocket, total=False):
    """A listening socket that the supervisor keeps, so that who connects while the process is started again waits. The process finds the numbers of all in FLEXRACK_SOCKETS."""
    last: ServiceSocketLast


class _ServiceOrder(TypedDict):
    argv: List[str]


class ServiceOrder(_ServiceOrder, total=False):
    """What a service is started with; kept in its folder, 0600."""
    env: Dict[str, str]
    cwd: str
    restart: ServiceRestart
    grace: float
    front: ServiceFront
    sockets: List[ServiceSocket]
    rotate_bytes: int
    spare_children: bool
    until_reboot: bool
    on_demand: bool
    ports: List[int]
    gpus: OwnLeases


class _ServiceStart(ServiceOrder):
    id: str


class ServiceStart(_ServiceStart, total=False):
    replace: bool
    define: bool


class ProcessExit(TypedDict):
    """How a process ended."""
    code: Optional[int]
    signal: Optional[str]
    text: str


class ServiceState(TypedDict):
    id: str
    state: Literal["absent", "starting", "running", "waiting", "failed", "stopped", "lost"]
    pid: Optional[int]
    restarts: int
    started_at: Optional[float]
    exit: Optional[ProcessExit]
    log_from: int
    supervised: bool


class ComesBack(TypedDict):
    """Who starts the node's services again after a reboot."""
    by: Literal["systemd", "cron", "none", "off"]
    why: Optional[str]


class NotRunning(TypedDict):
    """A service that is to run on the node and does not."""
    id: str
    state: str
    exit: Optional[str]
    last: Optional[str]


class RunOutlook(TypedDict):
    """Whether a run would go on after a reboot of the node."""
    run: str
    project: Optional[str]
    goes_on: bool
    why: Optional[str]


class BootFound(TypedDict):
    comes_back: ComesBack
    wanted: List[str]
    missing: List[NotRunning]
    runs: List[RunOutlook]


class BootResumed(TypedDict):
    started: List[str]
    failed: Dict[str, str]


class ServiceStarted(ServiceState):
    started: bool
    comes_back: ComesBack


class ServiceStopped(ServiceState):
    stopped: bool


class ServiceId(TypedDict):
    id: str


class _ServiceStop(TypedDict):
    id: str


class ServiceStop(_ServiceStop, total=False):
    grace: float
    remove: bool


class ServicePrefix(TypedDict, total=False):
    prefix: str


class _ServiceLogs(TypedDict):
    id: str


class ServiceLogs(_ServiceLogs, total=False):
    offset: int
    tail: int
    follow: bool


class LogPiece(TypedDict):
    event: Literal["log"]
    offset: int
    data: str


class AliveEvent(TypedDict):
    """No news: a caller that has gone is noticed by it."""
    event: Literal["alive"]


class LogEnd(TypedDict):
    offset: int

"""What the GPU daemon tells on its admin socket. Generated from protocol/daemon.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict

from flexrack_node.schema.facts import ShareLeft

Api = Literal["cuda", "opencl"]


class DeviceShare(TypedDict):
    memory: int
    compute: float
    whole: bool


class DeviceReserved(TypedDict):
    """A run has all of a device."""
    lease: str
    owner: str


class Oversubscribed(TypedDict):
    """Of a device on which leases take turns (docs/adr/0081); bytes. limit: of the host's memory, for all devices of the daemon. free: what one more such lease may be granted here."""
    limit: int
    granted: int
    free: int
    physical: int
    swapped: int
    is_thrashing: bool


class LeaseTurns(TypedDict):
    """How a lease that takes turns is: bytes on the device and in the host's memory, and how often it had to leave."""
    physical: int
    swapped: int
    count: int
    standing: Literal["in", "out", "waits", "thrashes"]


class _DaemonDevice(TypedDict):
    index: int
    id: str
    name: str
    vendor: str
    driver: str
    api: Api
    memory: int
    compute_units: int
    leased: DeviceShare
    free: ShareLeft
    used: int
    utilization: float
    leases: List[str]


class DaemonDevice(_DaemonDevice, total=False):
    capability: Optional[str]
    oversubscribed: Optional[Oversubscribed]
    reserved: DeviceReserved


class _LeasedDevice(TypedDict):
    index: int
    id: str
    name: str
    memory: int
    compute: float
    whole: bool
    cap: bool
    used: int
    utilization: float


class LeasedDevice(_LeasedDevice, total=False):
    oversubscribed: bool
    turns: LeaseTurns
    longest_launch: Optional[float]


class LeaseHolder(TypedDict):
    address: str
    since: float


class LeaseSession(TypedDict):
    session: str
    pid: int
    address: str
    started: float
    client_pid: int
    used: int


class DaemonLease(TypedDict):
    lease: str
    state: Literal["granted", "held", "lost"]
    owner: str
    purpose: str
    created: float
    age_seconds: int
    holder: Optional[LeaseHolder]
    ends_in_seconds: Optional[float]
    devices: List[LeasedDevice]
    sessions: List[LeaseSession]


class _DaemonStatus(TypedDict):
    version: str
    protocol: int
    speaks: Any
    pid: int
    started: float
    uptime_seconds: int
    boot_id: str
    root: str
    address: str
    port: int
    unix: str
    admin: str
    backend: str
    transport: str
    grace_seconds: int
    devices: int
    leases: int
    sessions: int
    connections: int


class DaemonStatus(_DaemonStatus, total=False):
    refused: Dict[str, int]


class DaemonState(TypedDict):
    state: Literal["running", "stopped", "absent"]
    status: Optional[DaemonStatus]
    devices: List[DaemonDevice]
    leases: List[DaemonLease]


class _LeaseServer(TypedDict):
    address: str
    port: int
    unix: str
    boot_id: str
    transport: Literal["auto", "tls", "tcp", "shm"]


class LeaseServer(_LeaseServer, total=False):
    api: Api


class _GrantedDevice(TypedDict):
    index: int
    id: str
    name: str
    memory: int
    compute: float
    whole: bool
    cap: bool


class GrantedDevice(_GrantedDevice, total=False):
    oversubscribed: bool


class GrantedLease(TypedDict):
    lease: str
    key: str
    state: Literal["granted", "held", "lost"]
    hold_within_seconds: int
    grace_seconds: int
    server: LeaseServer
    devices: List[GrantedDevice]


class MovedLease(TypedDict):
    """pause_seconds: the longest that one of its programs waited."""
    lease: str
    state: Literal["moved"]
    sessions: int
    pause_seconds: float


class EndedLease(TypedDict):
    lease: str
    state: Literal["ended"]

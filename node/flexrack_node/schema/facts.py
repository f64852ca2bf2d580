"""Facts: what a node is and has. Sizes in bytes. A part that could not be read is absent. Generated from protocol/facts.json by `npm run protocol`; for type checkers alone."""
from __future__ import annotations

from typing import Dict, List, Literal, Optional, TypedDict


class MachineCpu(TypedDict, total=False):
    allowed: str
    sockets: int


class _NumaFact(TypedDict):
    node: float
    cpus: str


class NumaFact(_NumaFact, total=False):
    socket: float
    memory: float
    free: float
    distances: List[float]


class _PcieFact(TypedDict):
    width: float
    max_width: float


class PcieFact(_PcieFact, total=False):
    """A PCIe link as it runs and as the device could: lanes, GT/s."""
    speed: float
    max_speed: float


class _NicFact(TypedDict):
    name: str
    kind: Literal["physical", "bond", "bridge", "vlan", "wireless", "virtual"]
    up: bool


class NicFact(_NicFact, total=False):
    speed: float
    max_speed: float
    mtu: float
    driver: str
    bus: str
    part_of: str
    numa_node: float
    pcie: PcieFact
    master: str
    members: List[str]


class _RdmaFact(TypedDict):
    device: str
    port: float


class RdmaFact(_RdmaFact, total=False):
    """A port of an InfiniBand or RoCE card."""
    state: str
    physical: str
    rate: float
    width: str
    link: str
    netdev: str
    type: str
    firmware: str
    bus: str
    part_of: str
    numa_node: float
    pcie: PcieFact


class MigPart(TypedDict):
    profile: str
    uuid: str


class _GpuFact(TypedDict):
    index: float
    uuid: str
    name: str
    memory: Optional[float]
    driver: str
    bus: str


class GpuFact(_GpuFact, total=False):
    free: Optional[float]
    numa_node: float
    pcie: PcieFact
    compute_mode: str
    mig: List[MigPart]


class AffinityFact(TypedDict, total=False):
    cpus: str
    numa_node: int


class LinkFacts(TypedDict):
    """In nvidia-smi's words (X, NV12, PIX, PXB, PHB, NODE, SYS); null where nobody knows. `devices`: GPU0, then cards by name."""
    source: Literal["nvidia-smi", "sysfs"]
    devices: List[str]
    matrix: List[List[Optional[str]]]
    affinity: Dict[str, AffinityFact]


class MachineFacts(TypedDict, total=False):
    """The parts of a machine that say how it is wired."""
    cpu: MachineCpu
    numa: List[NumaFact]
    nics: List[NicFact]
    infiniband: List[RdmaFact]
    gpus: List[GpuFact]
    links: LinkFacts


class PythonFact(TypedDict):
    version: str
    path: str
    venv: bool


class _CpuFact(TypedDict):
    cores: int
    numa_nodes: int
    load: float


class CpuFact(_CpuFact, total=False):
    allowed: str
    quota: float
    sockets: int
    physical_cores: int
    threads: int
    model: str


class _MemoryFact(TypedDict):
    total: int
    available: int


class MemoryFact(_MemoryFact, total=False):
    limit: int
    shared: int


class DiskFact(TypedDict):
    path: str
    total: int
    free: int
    free_files: int
    writable: bool


class _InterfaceFact(TypedDict):
    name: str
    addresses: List[str]
    up: bool


class InterfaceFact(_InterfaceFact, total=False):
    mtu: int
    speed: float


class LimitFact(TypedDict):
    """null: no limit."""
    soft: Optional[int]
    hard: Optional[int]


class LimitFacts(TypedDict):
    """Of programs that are started over SSH."""
    open_files: LimitFact
    locked_memory: LimitFact
    processes: LimitFact


class ShareLeft(TypedDict):
    memory: int
    compute: float


class FreeShare(TypedDict):
    """What a GPU daemon has left of a device."""
    index: int
    id: str
    name: str
    api: Literal["cuda", "opencl"]
    memory: int
    free: ShareLeft
    whole: bool


class GpuDaemonFact(TypedDict):
    state: Literal["running", "stopped", "absent"]
    devices: List[FreeShare]


class _ContainerFact(TypedDict):
    name: str
    path: str


class ContainerFact(_ContainerFact, total=False):
    version: str


class PartitionFact(TypedDict):
    name: str
    default: bool
    up: bool
    time_limit: str
    nodes: int


class SlurmNodeFact(TypedDict):
    name: str
    state: str
    partitions: List[str]


class SlurmFact(TypedDict, total=False):
    version: Optional[str]
    partitions: List[PartitionFact]
    node: Optional[SlurmNodeFact]
    problem: str


RouteFact = TypedDict("RouteFact", {"to": "str", "from": "str", "interface": "Optional[str]", "error": "str"}, total=False)


class _NodeFacts(TypedDict):
    missing: Dict[str, str]
    clock: float


class NodeFacts(_NodeFacts, total=False):
    """What a node is and has."""
    cpu: CpuFact
    numa: List[NumaFact]
    nics: List[NicFact]
    infiniband: List[RdmaFact]
    gpus: List[GpuFact]
    links: LinkFacts
    hostname: str
    user: str
    home: str
    root: str
    os: str
    kernel: str
    architecture: str
    python: PythonFact
    memory: MemoryFact
    disk: DiskFact
    interfaces: List[InterfaceFact]
    limits: LimitFacts
    gpu_daemon: GpuDaemonFact
    containers: List[ContainerFact]
    slurm: Optional[SlurmFact]
    routes: Dict[str, RouteFact]
    taken_ports: List[int]

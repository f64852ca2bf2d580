"""Slurm, as its login node tells of it. Generated from protocol/slurm.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Optional, TypedDict

from flexrack_node.schema.order import RunOrder


class SlurmPrograms(TypedDict, total=False):
    bin: str


class ClusterPartition(TypedDict):
    name: str
    default: bool
    nodes: int


class Cluster(TypedDict):
    version: Optional[str]
    partitions: List[ClusterPartition]
    kill_wait: float
    accounting: bool
    pyxis: bool
    array: int


class CheckedPartition(TypedDict):
    """Limits of a job; null: none."""
    name: str
    default: bool
    up: bool
    nodes: int
    most_nodes: Optional[int]
    seconds: Optional[int]
    cpus: Optional[int]
    accounts: Optional[List[str]]


class RootFact(TypedDict):
    path: str
    kind: str
    shared: Optional[bool]


class SlurmAssociation(TypedDict):
    """What a user may have by an account (sacctmgr show associations). `limits`: as Slurm names them, without those that are not set."""
    account: str
    partition: Optional[str]
    qos: List[str]
    limits: Dict[str, str]


class SlurmShare(TypedDict):
    """Of sshare: numbers from 0 to 1, null where Slurm tells none."""
    account: str
    share: Optional[float]
    used: Optional[float]
    fair_share: Optional[float]


class SlurmLimits(TypedDict):
    user: str
    associations: List[SlurmAssociation]
    shares: List[SlurmShare]
    problem: Optional[str]


class ClusterFact(TypedDict):
    version: Optional[str]
    partitions: List[CheckedPartition]
    accounts: Optional[List[str]]
    pyxis: bool
    root: RootFact


class SlurmSubmit(TypedDict):
    spec: RunOrder
    script: str


class SlurmSubmitArray(TypedDict):
    name: str
    tasks: List[RunOrder]
    script: str


class RunNames(TypedDict):
    runs: List[str]


class JobsCancelled(TypedDict):
    cancelled: int

"""Slurm, as its login node tells of it. Generated from protocol/slurm.json by `npm run protocol`; for type checkers alone."""
from __future__ import annotations

from typing import List, Optional, TypedDict

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

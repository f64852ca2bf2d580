"""The record of a run: everything that it came from, by content. The leader's node keeps it, and the tracking server has the same bytes. Times in seconds since 1970, by the node's clock. Generated from protocol/record.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.order import Launcher, RunData, RunInput, RunOrigin


class _NodeHere(TypedDict):
    node: str
    code: Optional[str]
    kernel: str
    machine: str
    python: Optional[str]
    cpu: Optional[str]
    cpus: int
    driver: Optional[str]


class NodeHere(_NodeHere, total=False):
    """A node as a run found it."""
    gpus: List[str]


class CodePack(TypedDict):
    """Contents of the code: a tar of the tree, deflated."""
    sha256: str
    bytes: int
    files: int

LeftOut = List[str]


class RecordedCode(TypedDict):
    digest: str
    files: int
    bytes: int
    commit: Optional[str]
    pack: Optional[CodePack]
    left_out: List[LeftOut]


class RecordedEnvironment(TypedDict):
    hash: str
    python: Optional[str]
    lock: str
    packages: int


class RecordedAttempt(TypedDict):
    attempt: int
    status: Literal["finished", "failed", "stopped"]
    why: str
    nodes: List[str]
    checkpoint: Optional[str]


class RecordedOutput(TypedDict):
    path: str
    sha256: str
    bytes: int


class RunRecord(TypedDict):
    run: str
    project: str
    status: Literal["running", "finished", "failed", "stopped"]
    started: float
    ended: Optional[float]
    user: str
    origin: Optional[RunOrigin]
    program: str
    command: List[str]
    launcher: Launcher
    processes: int
    nodes: List[NodeHere]
    env: List[str]
    seeds: Dict[str, str]
    code: Optional[RecordedCode]
    environment: Optional[RecordedEnvironment]
    data: List[RunData]
    image: Optional[str]
    inputs: List[RunInput]
    attempts: List[RecordedAttempt]
    outputs: List[RecordedOutput]
    tracked: Optional[str]


class CodeTree(TypedDict):
    """What a run's view of its code is made of, by path. Kinds as the digest has them: file, executable, link."""
    entries: List[List[Union[str, Literal["file", "executable", "link"]]]]

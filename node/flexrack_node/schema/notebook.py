"""Notebooks: a server of JupyterLab for a workspace. Times in seconds since 1970, by the node's clock. Generated from protocol/notebook.json by `npm run protocol`; for type checkers alone."""
from typing import List, Optional, TypedDict

from flexrack_node.schema.image import BoundVolume, EnterOrder, Isolate
from flexrack_node.schema.leases import OwnLeases
from flexrack_node.schema.service import ServiceState


class NotebookProject(TypedDict):
    project: str


class NotebookQuestion(TypedDict, total=False):
    project: str


class _NotebookWanted(TypedDict):
    project: str
    server: str
    side: str
    environment: str
    idle: float


class NotebookWanted(_NotebookWanted, total=False):
    end_at: float
    gpus: OwnLeases
    image: str
    isolate: Isolate
    volumes: List[BoundVolume]
    keep: List[str]


class NotebookPrepared(TypedDict):
    """What the service is started with."""
    id: str
    argv: List[str]
    cwd: str


class NotebookAccess(TypedDict):
    socket: str
    token: str


class _NotebookSettings(TypedDict):
    server: str
    environment: str
    socket: str
    idle: float
    end_at: Optional[float]


class NotebookSettings(_NotebookSettings, total=False):
    """What a notebook was started with, for its keeper."""
    environments: str
    order: EnterOrder


class NotebookKernel(TypedDict):
    id: str
    kernel: Optional[str]
    notebook: Optional[str]
    state: str
    active_at: float
    ends_at: Optional[float]


class NotebookEnd(TypedDict):
    what: str
    why: str
    at: float


class NotebookSeen(TypedDict):
    """What a notebook's keeper saw last."""
    ready: bool
    at: float
    kernels: List[NotebookKernel]
    ends_at: Optional[float]
    ends_why: Optional[str]
    ended: List[NotebookEnd]


class NotebookEntry(TypedDict):
    project: str
    code: str
    service: ServiceState
    idle: float
    end_at: Optional[float]
    now: float
    seen: Optional[NotebookSeen]


class NotebookRemoved(TypedDict):
    stopped: bool
    removed: bool

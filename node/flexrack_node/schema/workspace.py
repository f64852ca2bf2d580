"""Workspaces: a project's place on a node. Generated from protocol/workspace.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict

from flexrack_node.schema.environment import EnvironmentContent, EnvironmentPlanned
from flexrack_node.schema.image import ImageUsed
from flexrack_node.schema.sync import Compared, SyncQuestion


class WorkspaceQuestion(SyncQuestion, total=False):
    environment: EnvironmentContent


class EnvironmentOfWorkspace(EnvironmentPlanned):
    noted: bool


class _WorkspaceInspected(TypedDict):
    sync: Compared


class WorkspaceInspected(_WorkspaceInspected, total=False):
    image: ImageUsed
    environment: EnvironmentOfWorkspace
    autosave: bool


class ProjectName(TypedDict, total=False):
    project: str


class _EnvironmentInUse(TypedDict):
    hash: str
    path: str
    python: str
    ready: bool


class EnvironmentInUse(_EnvironmentInUse, total=False):
    built: bool


class WorkspaceProcess(TypedDict):
    """What runs in a workspace; `run` is the run that it belongs to."""
    pid: int
    command: str
    run: Optional[str]


class WorkspaceEntry(TypedDict):
    project: str
    path: str
    code: str
    owner: Optional[str]
    source: Optional[str]
    synced_at: Optional[float]
    files: Optional[int]
    environment: Optional[EnvironmentInUse]
    image: Optional[ImageUsed]
    enter: List[str]
    processes: List[WorkspaceProcess]


class _WorkspaceEnd(TypedDict):
    project: str


class WorkspaceEnd(_WorkspaceEnd, total=False):
    grace: float
    owner: str
    dry_run: bool
    history: bool


class RunningProcess(TypedDict):
    pid: int
    command: str


class WorkspaceStopped(TypedDict):
    ended: List[RunningProcess]
    survived: List[int]


class _SshHostQuestion(TypedDict):
    project: str


class SshHostQuestion(_SshHostQuestion, total=False):
    dry_run: bool


class SshHostFound(TypedDict):
    host_key: Optional[str]
    user: str


class SshSession(TypedDict):
    """The first line that ssh_session.py reads: for one connection."""
    project: str
    key: str
    env: Dict[str, str]
    script: str


class WorkspaceRemoved(TypedDict):
    ended: List[RunningProcess]
    removed: Optional[str]
    files: int
    bytes: int


class EditorLeft(TypedDict):
    """A folder that an editor keeps on the node."""
    editor: Literal["vscode", "cursor", "windsurf", "zed", "jetbrains"]
    path: str
    bytes: int
    processes: List[int]
    removed: bool


class EditorsQuestion(TypedDict, total=False):
    remove: List[str]


class EditorsLeft(TypedDict):
    editors: List[EditorLeft]

"""Container images of workspaces, and sandboxes. Digests are `sha256:` and 64 hex digits; a layer's diff_id is that of its tar, whatever it was packed with. Generated from protocol/image.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict


class _ImageQuestion(TypedDict):
    layers: List[str]
    tool: str


class ImageQuestion(_ImageQuestion, total=False):
    image: str
    sandbox: bool

Engine = Literal["ch-run", "apptainer", "proot"]


class ImageRuntime(TypedDict):
    """What runs images here; `engine` null and no `why`: not known before bubblewrap is there."""
    engine: Optional[Literal["bubblewrap", "ch-run", "apptainer", "proot"]]
    program: Optional[str]
    why: str
    hint: Optional[str]
    loss: Optional[str]


class ImageFound(TypedDict):
    missing: List[str]
    runtime: ImageRuntime
    lacks: Optional[str]
    machine: str
    remake: bool


class ImageForgotten(TypedDict):
    forgotten: bool


class ImageUser(TypedDict):
    project: str


class ToolWheel(TypedDict):
    """A wheel of bubblewrap, which follows as the body."""
    version: str
    lock: str
    name: str
    sha256: str


class ToolPlaced(TypedDict):
    path: str


class _LayerOrder(TypedDict):
    diff_id: str
    encoding: Literal["gzip", "none"]


class LayerOrder(_LayerOrder, total=False):
    """One layer, whose tar follows as the body."""
    most: int
    owner: str


class LayerMade(TypedDict):
    files: int
    bytes: int
    devices: int
    made: bool


class _ImageSettings(TypedDict):
    env: Dict[str, str]


class ImageSettings(_ImageSettings, total=False):
    """What of the image's configuration applies."""
    user: str


class ImageOrder(TypedDict):
    project: str
    digest: str
    ref: str
    layers: List[str]
    settings: ImageSettings


class ImageKept(TypedDict):
    layers: int


class ImageUsed(TypedDict):
    """What a workspace runs in."""
    digest: str
    ref: str


class KeptLayer(TypedDict):
    """A layer that is whole."""
    diff_id: str
    files: int
    bytes: int
    devices: int


class _KeptImage(TypedDict):
    digest: str
    ref: str
    layers: List[str]
    settings: ImageSettings


class KeptImage(_KeptImage, total=False):
    """An image: its layers, the lowest first."""
    engine: Engine


class ImageSize(TypedDict):
    bytes: int
    files: int


class ImageEntry(TypedDict):
    digest: str
    ref: str
    layers: List[str]
    bytes: int
    alone: int
    used_by: List[str]


class ImagesUnwanted(TypedDict, total=False):
    digests: List[str]
    dry_run: bool


class ImagesGone(TypedDict):
    removed: List[str]
    kept: List[str]
    layers: int
    bytes: int


class _Isolate(TypedDict):
    network: Literal["none", "host"]


class Isolate(_Isolate, total=False):
    """What a sandboxed program may have."""
    memory: int
    pids: int
    cpus: float


class BoundVolume(TypedDict):
    """A volume of the rack file, as a program may have it."""
    name: str
    path: str
    write: bool


class _EnterOrder(TypedDict):
    read: List[str]
    write: List[str]
    gpus: Optional[List[str]]
    cwd: str
    path: List[str]
    keep: List[str]


class EnterOrder(_EnterOrder, total=False):
    """How a program is started in an image, in a sandbox, or both. Paths are absolute, and the same inside and outside."""
    image: str
    isolate: Isolate
    volumes: List[BoundVolume]
    over: List[List[str]]
    drivers: str
    die: bool
    group: bool


class ImagePythonQuestion(TypedDict):
    image: str
    python: Optional[str]


class ImagePython(TypedDict):
    python: Optional[str]


class LimitsHeld(TypedDict):
    """By what a limit would be held: a cgroup of ours, a scope of the account's systemd, or for each process alone (CPUs: by where it may run)."""
    memory: Literal["cgroup", "systemd", "process"]
    pids: Literal["cgroup", "systemd", "process"]
    cpus: Literal["cgroup", "systemd", "process"]


class SandboxLook(TypedDict):
    runtime: ImageRuntime
    limits: LimitsHeld
    lacks: Optional[str]

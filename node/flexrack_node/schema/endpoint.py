"""Endpoints: files and ports of model servers on a node. Generated from protocol/endpoint.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, TypedDict

ServingProtocol = Literal["v2", "openai", "mlflow"]


class ReleaseName(TypedDict):
    name: str
    release: str


class ModelFile(TypedDict):
    path: str
    bytes: int
    sha256: str


class ReleaseFiles(ReleaseName):
    files: List[ModelFile]


class ReleaseFound(TypedDict):
    complete: bool
    folder: str


class FolderMade(TypedDict):
    folder: str


class _PortsWanted(TypedDict):
    count: int
    host: str


class PortsWanted(_PortsWanted, total=False):
    exclude: List[int]


class ReplicaFiles(ReleaseName):
    replica: int
    files: Dict[str, str]


class _ReleaseCode(ReleaseName):
    workspace: str


class ReleaseCode(_ReleaseCode, total=False):
    environment: str


class CodeKept(TypedDict):
    folder: str
    imports: List[str]


class ReleasesKept(TypedDict):
    name: str
    keep: List[str]

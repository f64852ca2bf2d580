"""Data sets: versions by content, and what of them a node has. Generated from protocol/data.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict, Union

DataFile = List[Union[str, bool, int]]


class DataManifest(TypedDict):
    """A version."""
    name: str
    digest: str
    at: float
    source: str
    bytes: int
    files: List[DataFile]


class DataDigest(TypedDict, total=False):
    digest: str
    claim: str


class DataVersionHere(TypedDict):
    name: str
    digest: str
    files: int
    bytes: int
    used: float
    runs: List[str]


class DataHere(TypedDict):
    versions: List[DataVersionHere]
    bytes: int

DataContent = List[Union[str, bool, int]]


class DataMissing(TypedDict):
    missing: List[DataContent]


class _DataOrder(TypedDict):
    manifest: DataManifest
    send: List[List[Union[str, bool, int]]]


class DataOrder(_DataOrder, total=False):
    claim: str
    limit: Optional[int]


class _DataGive(TypedDict):
    digest: str
    contents: List[DataContent]


class DataGive(_DataGive, total=False):
    address: str


class DataGiven(TypedDict):
    bytes: int


class DataSource(TypedDict):
    """Where a node gives contents, to whoever knows the secret."""
    address: str
    port: int
    secret: str


class DataOpen(TypedDict):
    event: Literal["open"]
    address: str
    port: int
    secret: str


class DataProgress(TypedDict):
    event: Literal["progress"]
    done: int
    total: int
    unit: Literal["bytes"]


class DataFetch(DataOrder):
    source: DataSource


class DataReceived(TypedDict):
    bytes: int
    evicted: List[str]


class _DataVerify(TypedDict):
    digest: str


class DataVerify(_DataVerify, total=False):
    fix: bool


class DataVerified(TypedDict):
    files: int
    bytes: int
    bad: List[str]


class DataRemoved(TypedDict):
    removed: bool
    bytes: int

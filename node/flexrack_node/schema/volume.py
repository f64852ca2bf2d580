"""Volumes of the rack file: folders of nodes that runs may have. Generated from protocol/volume.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict

from flexrack_node.schema.image import BoundVolume


class _VolumeQuestion(TypedDict):
    volumes: List[BoundVolume]


class VolumeQuestion(_VolumeQuestion, total=False):
    try_write: bool


class VolumeQuota(TypedDict):
    """Of this account there."""
    used: int
    limit: int


class VolumeSeen(TypedDict):
    name: str
    path: str
    trouble: Optional[str]
    hint: Optional[str]
    type: str
    source: str
    mount: str
    free: int
    total: int
    quota: Optional[VolumeQuota]
    writable: bool
    identity: str


class VolumeMark(TypedDict):
    path: str
    nonce: str
    step: Literal["write", "read", "remove"]


class VolumeMarked(TypedDict):
    found: bool

"""Buckets: what rclone copies to nodes before a run and from them after. Generated from protocol/bucket.json by `npm run protocol`; for type checkers alone."""
from typing import List, Optional, TypedDict

from flexrack_node.schema.order import RunInput


class RcloneWanted(TypedDict):
    version: str


class RcloneFound(TypedDict):
    program: Optional[str]
    machine: Optional[str]


class BringOrder(TypedDict):
    run: str
    inputs: List[RunInput]
    remotes: str


InputBrought = TypedDict("InputBrought", {"name": "str", "from": "str", "files": "int", "bytes": "int", "brought": "int"})


class UploadAgain(TypedDict):
    run: str
    remotes: str


class Settled(TypedDict):
    changed: bool

"""Open MPI on a node. Generated from protocol/mpi.json by `npm run protocol`; for type checkers alone."""
from __future__ import annotations

from typing import Optional, TypedDict


class NodeMpi(TypedDict):
    """`4.1.4` and `4.1`; null where the node has no Open MPI."""
    version: Optional[str]
    series: Optional[str]

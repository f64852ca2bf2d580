"""What a rank tells of itself: makes and reads attempts/K/rank-R.progress. The layout is in
instrumentation/flexrack_layout.py.
"""

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, cast

from flexrack_node.instrumentation import flexrack_layout as layout

if TYPE_CHECKING:
    from flexrack_node.schema.watch import RankProgress

_TRIES = 5  # until two readings are alike


def progress_path(attempt: Path, rank: int) -> Path:
    return attempt / f"rank-{rank}.progress"


def make_progress(path: Path) -> None:
    """An empty file with its header. Written out, not left sparse: a full disk must be told here, not by SIGBUS in the
    rank. Raises OSError.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, (layout.MAGIC + struct.pack("<Q", layout.VERSION)).ljust(layout.SIZE, b"\0"))
    finally:
        os.close(fd)


def read_progress(path: Path) -> "Optional[RankProgress]":
    """The file's fields by name, in seconds, and what follows from them; None where there is none, or it is of another
    version.
    """
    data = b""
    for _ in range(_TRIES):
        try:
            again = path.read_bytes()
        except OSError:
            return None
        if again == data:
            break
        data = again
    return parse_progress(data)


def parse_progress(data: bytes) -> "Optional[RankProgress]":
    """The same of the file's bytes."""
    if len(data) < layout.SIZE or data[:8] != layout.MAGIC or _u64(data, 1) != layout.VERSION:
        return None
    found: Dict[str, Any] = {name.lower(): _u64(data, getattr(layout, name)) for name in _COUNTS}
    found.update({name.lower(): _f64(data, getattr(layout, name)) for name in _SECONDS})
    name = data[layout.NAME * 8 : layout.NAME * 8 + layout.NAME_BYTES].split(b"\0")[0].decode("ascii", "replace")
    stride = _u64(data, layout.STRIDE)
    kept = min(layout.KEPT, (found["steps"] - 2) // stride + 1) if stride and found["steps"] > 1 else 0
    found["last_collective"] = name
    found["collective"] = name if found["collectives"] > found["collectives_done"] else ""
    durations, own = ([_f64(data, first + index) for index in range(kept)] for first in (layout.DURATIONS, layout.OWN))
    found["median_step"], found["median_own"] = _median(durations), _median(own)
    found["median_collectives"] = _median([whole - part for whole, part in zip(durations, own)])
    return cast("RankProgress", found)


_COUNTS = ("PID", "STEPS", "BATCHES", "SAMPLES", "TOKENS", "COLLECTIVES", "COLLECTIVES_DONE", "EVALUATED")
_SECONDS = (
    "STARTED_AT",
    "UPDATED_AT",
    "STEP_AT",
    "FIRST_STEP_AT",
    "STEP_SECONDS",
    "BATCH_AT",
    "DATA_WAIT",
    "DATA_SINCE",
    "COLLECTIVE_AT",
    "COLLECTIVE_SECONDS",
    "OWN_SECONDS",
)


def _median(values: List[float]) -> Optional[float]:
    if not values:
        return None
    from statistics import median  # only now: it reads fractions and decimal, in every rank

    return median(values)


def _u64(data: bytes, field: int) -> int:
    return int(struct.unpack_from("<Q", data, field * 8)[0])


def _f64(data: bytes, field: int) -> float:
    return float(struct.unpack_from("<d", data, field * 8)[0])

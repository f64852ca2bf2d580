"""hardware.jsonl: what the sampler saw, a line a sample, never larger than a few megabytes however long the run is.

    {"t": end of the time it is about, "s": its length in seconds, "attempt", "cpu", "memory", "net": [in, out], "rdma", "disk": [read, written],
     "ranks": {rank: [cpu, memory, read, written, processes]}, "gpus": {index: [used, memory, power, temperature]},
     "logs": {rank: bytes of its log}}

Percent (of the machine; of one CPU for a rank), bytes in use, bytes a second, watts, degrees. Where the file is full,
of its older half every two neighbours become one, their mean: what is recent stays as fine as it was seen, and the
first hour of a week is a few lines.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Optional, cast

from flexrack_node.base import stored

if TYPE_CHECKING:
    from flexrack_node.schema.watch import HardwareSample

LIMIT = 2 * 1024 * 1024  # bytes


class HardwareFile:
    """Appended to by one process."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self._path, self._limit = path, limit

    def append(self, sample: "HardwareSample") -> None:
        data = stored.line("run.sample", sample)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, data)
            size = os.fstat(fd).st_size
        finally:
            os.close(fd)
        if size > self._limit:
            self._thin()

    def _thin(self) -> None:
        samples = read_samples(self._path)
        middle = len(samples) // 4 * 2
        thinned = [merged(samples[index], samples[index + 1]) for index in range(0, middle, 2)] + samples[middle:]
        stored.replace_file(self._path, b"".join(stored.line("run.sample", one) for one in thinned), durable=False)


def read_samples(path: Path) -> "List[HardwareSample]":
    """Oldest first; empty where there are none. A line that was torn by the end of its writer is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found = (stored.read_line("run.sample", line, path) for line in lines)
    return [sample for sample in found if sample]


def last_sample(path: Path) -> "Optional[HardwareSample]":
    """The newest, without reading the others."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 64 * 1024))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        found = stored.read_line("run.sample", line, path)
        if found:
            return found
    return None


def merged(first: "HardwareSample", second: "HardwareSample") -> "HardwareSample":
    """One sample about the time of both. A rank or GPU that only one of them has keeps what that says."""
    one, other = float(first["s"]), float(second["s"])

    def mean(a: Any, b: Any) -> Any:
        if a is None or b is None:
            return b if a is None else a
        if isinstance(a, dict):
            return {key: mean(a.get(key), b.get(key)) for key in {**a, **b}}
        if isinstance(a, list):
            return [mean(x, y) for x, y in zip(a, b)]
        value = (a * one + b * other) / (one + other)
        return round(value, 1) if isinstance(a, float) or isinstance(b, float) else round(value)

    kept = ("t", "s", "attempt", "logs")
    rest = {key: mean(first.get(key), second.get(key)) for key in {**first, **second} if key not in kept}
    logs = {"logs": second["logs"]} if "logs" in second else {}  # as it was at the end
    whole = {"t": second["t"], "s": round(one + other, 3), "attempt": second["attempt"], **rest, **logs}
    return cast("HardwareSample", whole)

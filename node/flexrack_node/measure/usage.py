"""usage.jsonl: what runs had of this node, a line an attempt, kept also after `runs remove`. usage.read (runs/usage.py)
tells it.

    {"run", "project", "user", "node", "index", "attempt", "launcher", "status", "started", "ended": seconds since 1970, "gpus": how many the run had here,
     "cpu": seconds of one CPU that its ranks used, "gpu_seen": seconds of one GPU over which its load was measured, "gpu_busy": of them, computing, "ranks"}

Appended by the run's supervisor at its end, and by run.remove where that was killed. Of a run that goes on, or whose
supervisor was killed, the same is made from its folder when it is asked for, so that nothing is missing and nothing is
counted twice: run, node and attempt name a line.
"""

import getpass
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional, Tuple, TypedDict, cast

from flexrack_node.base import shared_lock, stored
from flexrack_node.base.installed import record as record_installed
from flexrack_node.base.stored import or_nothing
from flexrack_node.measure.hardware_summary import read_summary
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.result import RankRecord, RunResult
    from flexrack_node.schema.usage import UsageLine, UsageReported
    from flexrack_node.schema.watch import AttemptHardware

FILE = "usage.jsonl"


class GpuLoad(TypedDict):
    gpu_seen: Optional[float]
    gpu_busy: Optional[float]


def note(folder: RunFolder) -> None:
    """Writes down what is not there yet of a run that has ended. A file system that is full takes it away from nobody:
    usage.read looks at the folder.
    """
    spec = folder.spec()
    root = Path(spec["root"]) if spec.get("root") else None
    if root is None:
        return
    fresh = [
        cast("UsageLine", {key: value for key, value in entry.items() if key != "open"})
        for entry in entries_of(folder, time.time())
    ]
    record_installed(root, root / FILE, "usage")
    descriptor = os.open(root / FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        shared_lock.wait(file.fileno())
        text = file.read()
        known = {key_of(entry) for entry in parse(text, root / FILE)}
        lines = [stored.line("usage.entry", entry) for entry in fresh if key_of(entry) not in known]
        if lines:
            file.write((b"" if not text or text.endswith(b"\n") else b"\n") + b"".join(lines))


def logged(root: Path) -> "List[UsageLine]":
    try:
        return parse((root / FILE).read_bytes(), root / FILE)
    except FileNotFoundError:
        return []


def parse(text: bytes, path: Path) -> "List[UsageLine]":
    """Its lines; one that was torn by a full disk is passed over."""
    found = []
    for line in text.splitlines():
        entry = stored.read_line("usage.entry", line, path)
        if entry and {"run", "node", "attempt", "started", "ended"} <= set(entry):
            found.append(entry)
    return found


def key_of(entry: "UsageLine") -> Tuple[str, str, int]:
    return entry["run"], entry["node"], entry["attempt"]


def entries_of(folder: RunFolder, now: float) -> "List[UsageReported]":
    """Of every attempt of a run on this node, as its records, and what the sampler saw, tell."""
    spec, summary, result = folder.spec(), or_nothing(read_summary(folder)), folder.result()
    is_live = folder.is_held() and not result
    found: List[UsageReported] = []
    for attempt in folder.attempts():
        records = folder.records(attempt)
        if not records:
            continue
        seen = or_nothing(summary.get("attempts", {}).get(str(attempt)))
        is_open = is_live and any("exit" not in record for record in records.values())
        found.append(
            {
                "run": spec["run"],
                "project": spec.get("project"),
                "user": spec.get("owner") or account(),
                "node": spec["node"],
                "index": spec["index"],
                "attempt": attempt,
                "launcher": spec.get("launcher"),
                "status": _status(result, attempt, is_open),
                "started": min(record["started"] for record in records.values()),
                "ended": now if is_open else max(_end_of(record, seen) for record in records.values()),
                "gpus": len(summary.get("gpus") or []),
                "cpu": round(sum(_cpu_of(rank, record, seen) for rank, record in records.items()), 3),
                **gpu_load(seen),
                "ranks": len(records),
                "open": is_open,
            }
        )
    return found


def _status(result: "Optional[RunResult]", attempt: int, is_open: bool) -> str:
    if is_open:
        return "running"
    own = next((one for one in or_nothing(result).get("attempts", []) if one.get("attempt") == attempt), None)
    return own["status"] if own else result["status"] if result else "failed"


def _end_of(record: "RankRecord", seen: "AttemptHardware") -> float:
    """A rank that was killed with everything around it left no end: the sampler saw it last."""
    return float(record.get("ended") or max(record["started"], seen.get("until", 0)))


def _cpu_of(rank: int, record: "RankRecord", seen: "AttemptHardware") -> float:
    """What the kernel counted until its end; else what was seen while it ran."""
    if record.get("cpu") is not None:
        return float(record["cpu"])
    reported = or_nothing(seen.get("ranks", {}).get(str(rank)))
    return (reported.get("cpu") or 0.0) / 100 * (reported.get("seconds") or 0.0)


def gpu_load(seen: "AttemptHardware") -> "GpuLoad":
    """Means of its GPUs, added up over the time of each. Null where the driver told nothing."""
    told = [one for one in or_nothing(seen.get("gpus")).values() if one.get("used") is not None]
    if not told:
        return {"gpu_seen": None, "gpu_busy": None}
    return {
        "gpu_seen": round(sum(one["seconds"] for one in told), 3),
        "gpu_busy": round(sum(one["seconds"] * (one["used"] or 0) / 100 for one in told), 3),
    }


def account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without an entry, as in containers
        return str(os.geteuid())

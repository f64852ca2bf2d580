"""What a rank's profile tells: a trace in Chrome's format, as torch.profiler writes it
(instrumentation/flexrack_instrumentation_profile.py), summed up.

Times of the trace are microseconds; here they are seconds. Categories are Kineto's (libkineto, ActivityType): cpu_op,
user_annotation, kernel, gpu_memcpy, gpu_memset.
"""

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Tuple

if TYPE_CHECKING:
    from flexrack_node.schema.profile import OperatorTime, TraceSummary

MOST_BYTES = 512 * 1024 * 1024  # of a trace, unpacked: reading takes several times that in memory
MOST_OPERATORS = 40
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
# annotations of torch's process groups; NCCL's kernels have names that begin with "nccl"
COLLECTIVE = ("nccl:", "gloo:", "mpi:", "ucc:", "xccl:")
Span = Tuple[float, float]


class TooLarge(ValueError):
    """The trace is larger than MOST_BYTES."""


def load(path: Path) -> List[Mapping[str, Any]]:
    """The complete events of a trace. Raises OSError, ValueError where it is none, TooLarge."""
    with gzip.open(path, "rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise TooLarge("it is larger than 512 MiB")
    events = json.loads(text).get("traceEvents")
    if not isinstance(events, list):
        raise ValueError("it has no traceEvents")
    return [event for event in events if isinstance(event, dict) and event.get("ph") == "X"]


def summarize(events: List[Mapping[str, Any]]) -> "TraceSummary":
    """Over the recorded steps. Raises ValueError where none is whole."""
    steps = sorted(
        (_span(event), _thread(event))
        for event in events
        if event.get("cat") == "user_annotation" and str(event["name"]).startswith("ProfilerStep#")
    )
    if not steps:
        raise ValueError("it has no whole step")
    start, end, main = steps[0][0][0], max(span[1] for span, _ in steps), steps[0][1]
    inside = [event for event in events if start <= float(event["ts"]) < end and event.get("cat") != "Trace"]
    ops = [event for event in inside if event.get("cat") == "cpu_op"]
    device = [event for event in inside if event.get("cat") in DEVICE]
    notes = [event for event in inside if event.get("cat") == "user_annotation"]
    on_device = [event for event in device if str(event["name"]).lower().startswith("nccl")]
    collectives = on_device or [event for event in notes if str(event["name"]).startswith(COLLECTIVE)]
    # On the device whatever else runs there; on the CPU what the thread that trains computes, without its waiting in
    # the collective itself.
    others = (
        [event for event in device if event not in on_device]
        if on_device
        else [event for event in ops if _thread(event) == main and not str(event["name"]).startswith("c10d::")]
    )
    spent = union(_clipped(collectives, end))
    return {
        "steps": len(steps),
        "seconds": (end - start) / 1e6,
        "device": {"busy": total(union(_clipped(device, end)))} if device else None,
        "data_wait": sum(
            _seconds(event)
            for event in notes
            if _thread(event) == main and "DataLoader" in event["name"] and "__next__" in event["name"]
        ),
        "collectives": {
            "count": len(collectives),
            "seconds": total(spent),
            "overlapped": total(intersection(spent, union(_clipped(others, end)))),
        },
        "operators": operators(ops),
        "kernels": kernels(device),
    }


def operators(ops: List[Mapping[str, Any]]) -> "List[OperatorTime]":
    """By name, most time of its own first: without what it called on its thread."""
    found: Dict[str, List[float]] = {}
    threads: Dict[Tuple[Any, Any], List[Mapping[str, Any]]] = {}
    for op in ops:
        threads.setdefault(_thread(op), []).append(op)
    for on_thread in threads.values():
        open_ones: List[Tuple[float, str]] = []  # (end, name) of those that have begun, innermost last
        for op in sorted(on_thread, key=lambda one: (float(one["ts"]), -float(one["dur"]))):
            begin, stop = _span(op)
            while open_ones and open_ones[-1][0] <= begin:
                open_ones.pop()
            if open_ones:
                found[open_ones[-1][1]][1] -= _seconds(op)
            one = found.setdefault(op["name"], [0, 0.0, 0.0])
            one[0] += 1
            one[1] += _seconds(op)
            one[2] += 0.0 if any(name == op["name"] for _, name in open_ones) else _seconds(op)
            open_ones.append((stop, op["name"]))
    return [
        {"name": name, "calls": int(calls), "self": own, "total": whole}
        for name, (calls, own, whole) in sorted(found.items(), key=lambda one: -one[1][1])[:MOST_OPERATORS]
    ]


def kernels(device: List[Mapping[str, Any]]) -> "List[OperatorTime]":
    """What ran on the device, by name."""
    found: Dict[str, List[float]] = {}
    for event in device:
        one = found.setdefault(event["name"], [0, 0.0])
        one[0] += 1
        one[1] += _seconds(event)
    return [
        {"name": name, "calls": int(calls), "self": seconds, "total": seconds}
        for name, (calls, seconds) in sorted(found.items(), key=lambda one: -one[1][1])[:MOST_OPERATORS]
    ]


def union(spans: Iterable[Span]) -> List[Span]:
    """Without overlaps, in order."""
    found: List[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def intersection(left: List[Span], right: List[Span]) -> List[Span]:
    """Of two that are unions."""
    found: List[Span] = []
    first = second = 0
    while first < len(left) and second < len(right):
        begin, end = max(left[first][0], right[second][0]), min(left[first][1], right[second][1])
        if begin < end:
            found.append((begin, end))
        if left[first][1] < right[second][1]:
            first += 1
        else:
            second += 1
    return found


def total(spans: Iterable[Span]) -> float:
    """Seconds."""
    return sum(end - begin for begin, end in spans) / 1e6


def _span(event: Mapping[str, Any]) -> Span:
    return float(event["ts"]), float(event["ts"]) + float(event["dur"])


def _clipped(events: Iterable[Mapping[str, Any]], end: float) -> List[Span]:
    return [(begin, min(stop, end)) for begin, stop in map(_span, events)]


def _seconds(event: Mapping[str, Any]) -> float:
    return float(event["dur"]) / 1e6


def _thread(event: Mapping[str, Any]) -> Tuple[Any, Any]:
    return event.get("pid"), event.get("tid")

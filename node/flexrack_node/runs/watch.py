"""run.watch and run.measured: how far the ranks on this node are and what they use of it, while they run and
afterwards.

Both read what others wrote: the ranks their progress files (watch/progress.py), the sampler hardware.jsonl and
hardware.json.
"""

import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from flexrack_node.base.channel import Channel
from flexrack_node.base.stored import or_nothing
from flexrack_node.measure.hardware_file import last_sample
from flexrack_node.measure.hardware_summary import read_summary
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import leader_known
from flexrack_node.runs.view import open_view
from flexrack_node.watch.progress import progress_path, read_progress

if TYPE_CHECKING:
    from flexrack_node.schema.watch import MeasuredPart, NodePart, RankProgress, RunName, WatchEnd, WatchInput

_STEP = 0.1  # seconds between two looks whether the run is over
# Of a rank's progress, in this order: a list is a third of an object, and a hundred ranks are told of every few
# seconds.
LIVE = (
    "steps",
    "samples",
    "tokens",
    "median_step",
    "data_wait",
    "step_seconds",
    "collective_seconds",
    "updated_at",
    "collective",
)


def watch(given: "WatchInput", channel: Channel) -> "WatchEnd":
    """{run, every?: seconds}: an event `watch` at once and then every so many seconds until the run is over here;
    without `every` only one.

        {at, parts: [{node, term, leader, status, attempt, cores, memory_total, ranks: {rank: [LIVE]}, hardware: the newest line of hardware.jsonl|null}]}

    A line of hardware that was told already is left out. One part a node: on the login node of a Slurm rack there are
    all of the job's.
    """
    run = open_view(channel.root, given["run"])
    every = float(given.get("every") or 0)
    reported: Dict[str, float] = {}
    while True:
        is_over = not every or run.is_over()
        channel.event("watch", at=time.time(), parts=[_part(part, reported) for part in run.members()])
        if is_over:
            return {"over": run.is_over()}
        end = time.monotonic() + every
        while time.monotonic() < end and not run.is_over():
            time.sleep(_STEP)


def measured(given: "RunName", channel: Channel) -> "List[MeasuredPart]":
    """{run}: [{node, index, hardware: hardware.json|null, attempts: {number: {rank: progress}}}], a part a node."""
    return [measured_part(part) for part in open_view(channel.root, given["run"]).parts()]


def measured_part(part: RunFolder) -> "MeasuredPart":
    spec = part.spec()
    hardware: Any = read_summary(part)
    attempts: Any = {
        str(number): {str(rank): found for rank, found in progress_of(part, number).items()}
        for number in part.attempts()
    }
    return {
        "node": spec["node"],
        "index": spec["index"],
        "hardware": hardware,
        "attempts": attempts,
    }


def progress_of(part: RunFolder, attempt: int) -> "Dict[int, RankProgress]":
    """By rank: those whose own process has told something."""
    found: Dict[int, RankProgress] = {}
    for rank in part.records(attempt):
        reported = read_progress(progress_path(part.attempt(attempt), rank))
        if reported and reported["pid"]:
            found[rank] = reported
    return found


def _part(part: RunFolder, reported: Dict[str, float]) -> "NodePart":
    spec, state = part.spec(), part.state()
    attempt = int(state.get("attempt") or 0)
    progress = progress_of(part, attempt)
    sample: Any = last_sample(part.path / "hardware.jsonl")
    if sample and reported.get(spec["node"]) == sample["t"]:
        sample = None
    elif sample:
        reported[spec["node"]] = sample["t"]
    summary = or_nothing(read_summary(part))
    result = part.result()
    term, leader = leader_known(spec, state, result)
    return {
        "node": spec["node"],
        "term": term,
        "leader": leader,
        "status": result["status"] if result else state["status"],
        "attempt": attempt,
        "cores": summary.get("cores"),
        "memory_total": summary.get("memory_total"),
        "gpu_memory": {
            index: one.get("total")
            for index, one in or_nothing(summary.get("attempts", {}).get(str(attempt))).get("gpus", {}).items()
        },
        "ranks": {
            str(rank): _live(progress[rank]) if rank in progress else None for rank in sorted(part.records(attempt))
        },
        "hardware": sample,
    }


def _live(progress: Mapping[str, Any]) -> List[Any]:
    return [_short(progress[name]) for name in LIVE]


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value

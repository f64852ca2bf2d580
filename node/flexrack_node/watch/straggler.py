"""Who was slow: the report at the end of an attempt. Pure, but for `paces`, which reads the progress files.

Ranks in lock step all take the same time for a step, because the fast ones wait for the slow one in the next
collective. What differs is the time outside of collectives (computing, and waiting for data): the slowest rank has the
most of it and waits the least. So that is what is compared, by its median over the run (64 steps spread evenly: an
evaluation or a checkpoint now and then does not count).

With DDP the whole synchronized backward pass counts as the collective
(instrumentation/flexrack_instrumentation_torch.py), so what is compared there is data, forward pass and optimizer. With
NCCL a collective returns when it is queued, and the waiting is wherever the program waits for the GPU: then times
outside of collectives are those of the host.
"""

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Literal, Mapping, Optional

from flexrack_node.watch.progress import read_progress

if TYPE_CHECKING:
    from flexrack_node.schema.result import Pace, PaceOfRank, RankPace, SlowestRank

FACTOR = 1.2  # as long outside of collectives as the others: worth telling
LOSS = 0.05  # and this part of a step
_STEPS = 10  # fewer tell nothing
_BLAME = 0.5  # part of what it is slower by, for one reason to be the reason


def paces(attempt: Path, looks: Mapping[int, Mapping[str, float]]) -> "Dict[str, PaceOfRank]":
    """By rank that told of steps: {steps, step, own, data, collectives, synced, samples, cpu_wait, throttled}, seconds
    a step; `looks`: what was seen of a rank besides (watch.hang_watch.looks).

    `collectives` is of the same steps as `step` and `own`: what came before the first step, or after a few of them
    only, is no part of a step. `synced`: whether there was any.
    """
    found: Dict[str, PaceOfRank] = {}
    for path in sorted(attempt.glob("rank-*.progress")):
        rank = int(path.stem.partition("-")[2])
        reported, look = read_progress(path), looks.get(rank, {})
        if not reported or reported["steps"] < 2:
            continue
        step, own, collectives = reported["median_step"], reported["median_own"], reported["median_collectives"]
        if step is not None and own is not None and collectives is not None:
            steps = reported["steps"]
            found[str(rank)] = {
                "steps": steps,
                "step": step,
                "own": own,
                "data": reported["data_wait"] / steps,
                "collectives": collectives,
                "synced": reported["collective_seconds"] > 0,
                "samples": reported["samples"],
                "cpu_wait": look.get("cpu_wait", 0.0) / steps,
                "throttled": look.get("throttled", 0.0) / steps,
            }
    return found


def report(paces_by_node: "Mapping[str, Mapping[str, PaceOfRank]]") -> "Optional[Pace]":
    """{ranks: [{rank, node, and what paces() gives}], slowest: None or {rank, node, own, others, factor, loss, why,
    message}}.

    Seconds a step; others: median of the other ranks; loss: part of each step that the others wait for it. None where
    no rank told of steps.
    """
    ranks: List[RankPace] = [
        {"rank": int(rank), "node": node, **pace} for node, each in paces_by_node.items() for rank, pace in each.items()
    ]
    ranks.sort(key=lambda one: one["rank"])
    if not ranks:
        return None
    return {"ranks": ranks, "slowest": _slowest(ranks)}


def _slowest(ranks: "List[RankPace]") -> "Optional[SlowestRank]":
    if len(ranks) < 2 or min(one["steps"] for one in ranks) < _STEPS:
        return None
    slow = max(ranks, key=lambda one: one["own"])
    others = [one for one in ranks if one is not slow]
    usual = statistics.median(one["own"] for one in others)
    excess = slow["own"] - usual
    loss = excess / slow["step"] if slow["step"] > 0 else 0.0
    if slow["own"] < FACTOR * usual or loss < LOSS:
        return None
    factor = slow["own"] / usual if usual > 0 else None
    why = _why(slow, others, ranks, excess)
    waited = any(one["synced"] for one in others)
    message = f"rank {slow['rank']} ({slow['node']}) needs {_time(slow['own'])} a step outside of collectives, the others {_time(usual)}: {why}"
    if waited:
        message += f"; they wait for it {loss * 100:.0f} % of the time"
    return {
        "rank": slow["rank"],
        "node": slow["node"],
        "own": slow["own"],
        "others": usual,
        "factor": factor,
        "loss": loss if waited else 0.0,
        "why": why,
        "message": message,
    }


def _why(slow: "RankPace", others: "List[RankPace]", ranks: "List[RankPace]", excess: float) -> str:
    def more(key: Literal["data", "cpu_wait", "throttled"]) -> float:
        return slow[key] - statistics.median(one[key] for one in others)

    reasons = []
    if more("data") >= _BLAME * excess:
        reasons.append(f"it waits for data ({_time(slow['data'])} a step)")
    if more("throttled") >= _BLAME * excess:
        reasons.append(f"its CPU time is limited by its cgroup ({_time(slow['throttled'])} a step)")
    elif more("cpu_wait") >= _BLAME * excess:
        reasons.append(f"it waits for a free CPU ({_time(slow['cpu_wait'])} a step)")
    mates = [one for one in others if one["node"] == slow["node"]]
    away = [one["own"] for one in others if one["node"] != slow["node"]]
    if mates and away and min(one["own"] for one in mates) >= FACTOR * statistics.median(away):
        reasons.append(f"all ranks of {slow['node']} are slow")
    return ", ".join(reasons) or "it computes longer"


def _time(seconds: float) -> str:
    return (
        f"{seconds:.2f} s"
        if seconds >= 1
        else f"{seconds * 1000:.0f} ms"
        if seconds >= 0.01
        else f"{seconds * 1000:.1f} ms"
    )

"""How a run ended, and why an attempt failed: the earliest failure that nobody of ours brought about."""

import time
from typing import TYPE_CHECKING, Dict, List, Literal, Mapping, Optional, Tuple, cast

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangObserved
    from flexrack_node.schema.result import Cause, GangOutcome, RankRecord, RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder

ONE_A_NODE = ("plain", "ray")  # launchers that start one process on each node, whatever `processes` says
_ORDER_SECONDS = 5.0  # between the first and the last process that hears of a shutdown
_EXITS = {"finished": 0, "stopped": 130}


def first_cause(
    observations: "Mapping[str, GangObserved]",
    clocks: Mapping[str, float],
    stopped_at: Optional[float],
    before: "Optional[Mapping[str, GangObserved]]" = None,
) -> "Optional[Cause]":
    """`observations` by node as LocalRanks.observed gives them; `clocks`: seconds to add to a node's time to get the
    leader's, as well as that is known: how long the quickest of a node's words took is in it. `before`: the
    observations that the stop was decided from.

    A rank that ended after the stop went out failed because of it; it counts only where nothing else is there to blame.
    Returns {kind: rank|launcher, node, rank?, exit, signal, at, message?, lines, others}.
    """
    found: List[Tuple[bool, Cause]] = []  # with whether it is presumed
    known = {
        (node, one["rank"])
        for node, observed in (before or {}).items()
        for one in observed.get("records", {}).values()
        if one.get("exit")
    }
    for node, observed in observations.items():
        shift = clocks.get(node, 0.0)
        for record in observed.get("records", {}).values():
            if record.get("exit"):
                found.append((bool(record.get("presumed")), _of_rank(node, record, shift)))
        trouble = observed.get("trouble")
        if trouble:
            found.append(
                (
                    False,
                    {
                        "kind": trouble.get("kind", "launcher"),
                        "node": node,
                        "rank": None,
                        "exit": trouble["exit"],
                        "signal": None,
                        "at": trouble["at"] + shift,
                        "message": trouble["message"],
                        "lines": trouble["tail"],
                        "others": [],
                    },
                )
            )
    if not found:
        return None
    own = [
        (presumed, one)
        for presumed, one in found
        if not presumed and (stopped_at is None or one["at"] <= stopped_at or (one["node"], one["rank"]) in known)
    ]
    _, cause = min(own or found, key=lambda one: (one[0], one[1]["at"]))
    cause["others"] = sorted(one["rank"] for _, one in found if one is not cause and one["rank"] is not None)
    return cause


def is_complete(observations: "Mapping[str, GangObserved]", ranks: Mapping[str, List[int]]) -> bool:
    """True where every rank of every node wrote a record with exit code 0: the only way for a run to succeed."""

    def has_finished(node: str, rank: int) -> bool:
        record = observations[node].get("records", {}).get(str(rank)) if node in observations else None
        return record is not None and record.get("exit") == 0

    is_saved = not any(observations[node].get("unsaved") for node in ranks if node in observations)
    return is_saved and all(has_finished(node, rank) for node, expected in ranks.items() for rank in expected)


def ranks_of(nodes: List[str], launcher: str, processes: int) -> Dict[str, List[int]]:
    """Which ranks run on which node."""
    each = 1 if launcher in ONE_A_NODE else processes
    return {node: list(range(index * each, (index + 1) * each)) for index, node in enumerate(nodes)}


def close_result(spec: "KeptRunOrder", result: "GangOutcome", started: float) -> "RunResult":
    """A gang's result with what does not depend on the gang: exit, times, and whether MLflow knows."""
    ended = time.time()
    attempts = result.get("attempts", [])
    return {
        **cast("RunResult", result),
        "run": spec["run"],
        "exit": _EXITS.get(result["status"], 1),
        "started": attempts[0]["started"] if attempts and "started" in attempts[0] else started,
        "ended": ended,
        "duration": ended - started,
        "recorded": not spec.get("tracking"),
    }


def was_cut_off(record: "RankRecord", down_at: float) -> bool:
    """A rank that saves and ends well because its machine goes down has not done its work: systemd's SIGTERM reaches
    all, in any order.
    """
    return bool(record.get("ended", down_at) >= down_at - _ORDER_SECONDS)


def of_gang(node: str, message: str) -> "Cause":
    """A cause that is not a rank's: the gang did not come together, or fell apart."""
    return {
        "kind": "gang",
        "node": node,
        "rank": None,
        "exit": None,
        "signal": None,
        "at": time.time(),
        "message": message,
        "lines": [],
        "others": [],
    }


def of_loss(node: str, kind: Literal["reboot", "supervisor"], message: str) -> "Cause":
    """A cause that is a node's: it was rebooted (`reboot`), or its supervisor was killed (`supervisor`)."""
    return {**of_gang(node, message), "lost": kind}


def _of_rank(node: str, record: "RankRecord", shift: float) -> "Cause":
    error = record.get("error") or {}
    at = error.get("at") or record["ended"]
    return {
        "kind": "rank",
        "node": node,
        "rank": record["rank"],
        "exit": record["exit"],
        "signal": record.get("signal"),
        "at": min(at, record["ended"]) + shift,
        "message": _headline(error.get("message"), record.get("tail", [])),
        "lines": record.get("tail", []),
        "others": [],
    }


def _headline(message: Optional[str], lines: List[str]) -> Optional[str]:
    """One line: torch's own message, or the last thing the rank said."""
    text = (message or "").strip().split("\n")[0]
    return text or next((line.strip() for line in reversed(lines) if line.strip()), None)

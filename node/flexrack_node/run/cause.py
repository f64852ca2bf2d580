"""How a run ended, and why an attempt failed: the earliest failure that nobody of ours brought about."""
import time
from typing import Any, Dict, List, Mapping, Optional

ONE_A_NODE = ("plain", "ray")  # launchers that start one process on each node, whatever `processes` says
_EXITS = {"finished": 0, "stopped": 130}


def first_cause(
    observations: Mapping[str, Mapping[str, Any]], clocks: Mapping[str, float], stopped_at: Optional[float],
    before: Optional[Mapping[str, Mapping[str, Any]]] = None,
) -> Optional[Dict[str, Any]]:
    """`observations` by node as LocalRanks.observed gives them; `clocks`: seconds to add to a node's time to get the leader's,
    as well as that is known: how long a busy node's first word took is in it. `before`: the observations that the stop was decided from.

    A rank that ended after the stop went out failed because of it; it counts only where nothing else is there to blame.
    Returns {kind: rank|launcher, node, rank?, exit, signal, at, message?, lines, others}.
    """
    found: List[Dict[str, Any]] = []
    known = {(node, one["rank"]) for node, observed in (before or {}).items() for one in observed.get("records", {}).values() if one.get("exit")}
    for node, observed in observations.items():
        shift = clocks.get(node, 0.0)
        for record in observed.get("records", {}).values():
            if record.get("exit"):
                found.append(_of_rank(node, record, shift))
        if observed.get("trouble"):
            trouble = observed["trouble"]
            found.append({
                "kind": "launcher", "node": node, "rank": None, "exit": trouble.get("exit"), "signal": None,
                "at": trouble["at"] + shift, "message": trouble["message"], "lines": trouble.get("tail", []), "presumed": False,
            })
    if not found:
        return None
    own = [one for one in found if not one["presumed"] and (stopped_at is None or one["at"] <= stopped_at or (one["node"], one["rank"]) in known)]
    cause = min(own or found, key=lambda one: (one["presumed"], one["at"]))
    others = sorted(one["rank"] for one in found if one is not cause and one["rank"] is not None)
    return {**{key: value for key, value in cause.items() if key != "presumed"}, "others": others}


def is_complete(observations: Mapping[str, Mapping[str, Any]], ranks: Mapping[str, List[int]]) -> bool:
    """True where every rank of every node wrote a record with exit code 0: the only way for a run to succeed."""
    return all(
        observations.get(node, {}).get("records", {}).get(str(rank), {}).get("exit") == 0 for node, expected in ranks.items() for rank in expected
    )


def ranks_of(nodes: List[str], launcher: str, processes: int) -> Dict[str, List[int]]:
    """Which ranks run on which node."""
    each = 1 if launcher in ONE_A_NODE else processes
    return {node: list(range(index * each, (index + 1) * each)) for index, node in enumerate(nodes)}


def close_result(spec: Dict[str, Any], result: Dict[str, Any], started: float) -> Dict[str, Any]:
    """A gang's result with what does not depend on the gang: exit, times, and whether MLflow knows."""
    ended = time.time()
    attempts = result.get("attempts", [])
    return {
        **result,
        "run": spec["run"],
        "exit": _EXITS.get(result["status"], 1),
        "started": attempts[0]["started"] if attempts and "started" in attempts[0] else started,
        "ended": ended,
        "duration": ended - started,
        "recorded": not spec.get("tracking"),
    }


def of_gang(node: str, message: str) -> Dict[str, Any]:
    """A cause that is not a rank's: the gang did not come together, or fell apart."""
    return {"kind": "gang", "node": node, "rank": None, "exit": None, "signal": None, "at": time.time(), "message": message, "lines": [], "others": []}


def of_loss(node: str, kind: str, message: str) -> Dict[str, Any]:
    """A cause that is a node's: it was rebooted (`reboot`), or its supervisor was killed (`supervisor`)."""
    return {**of_gang(node, message), "lost": kind}


def _of_rank(node: str, record: Mapping[str, Any], shift: float) -> Dict[str, Any]:
    error = record.get("error") or {}
    at = error.get("at") or record["ended"]
    return {
        "kind": "rank", "node": node, "rank": record["rank"], "exit": record["exit"], "signal": record.get("signal"),
        "at": min(at, record["ended"]) + shift, "message": _headline(error.get("message"), record.get("tail", [])),
        "lines": record.get("tail", []), "presumed": bool(record.get("presumed")),
    }


def _headline(message: Optional[str], lines: List[str]) -> Optional[str]:
    """One line: torch's own message, or the last thing the rank said."""
    text = (message or "").strip().split("\n")[0]
    return text or next((line.strip() for line in reversed(lines) if line.strip()), None)

"""Who leads a run, as one of its nodes knows it: `term` and `leader` in its state.json, and in the result.json that it has."""
from typing import Any, Dict, Optional, Tuple

from flexrack_node.run.rules import can_be_replaced


def leader_known(spec: Dict[str, Any], state: Dict[str, Any], result: Optional[Dict[str, Any]] = None) -> Tuple[int, str]:
    """(term, leader): those of the result, unless the state knows of a newer one; the first node is the first leader."""
    first = (1, spec["nodes"][0] if spec.get("nodes") else spec["node"])
    found = [(int(one["term"]), str(one["leader"])) for one in (result or {}, state) if one.get("term") and one.get("leader")]
    return max(found or [first], key=lambda one: one[0])


def may_be_led_on(spec: Dict[str, Any]) -> bool:
    """Whether another node can lead the run if the first leader is lost: the others are more than half of its nodes, and enough for an attempt."""
    nodes = spec.get("nodes") or [spec["node"]]
    least = (spec.get("size") or {"min": len(nodes)})["min"]
    return spec.get("scheduler") != "slurm" and can_be_replaced(nodes, nodes[0], (), least)


def is_committed(result: Optional[Dict[str, Any]]) -> bool:
    """True for a leader's word on how the run ended, here or on a node that it was copied to.

    What a node writes that has lost its gang, or whose supervisor died, failed or never began, is none. Older versions did not say who led; then it is one
    for which somebody has collected the outputs.
    """
    if not result:
        return False
    return ("leader" in result or "outputs" in result) and not (result.get("partial") or result.get("lost"))


def is_leaders(spec: Dict[str, Any], result: Dict[str, Any]) -> bool:
    """True on the node whose word the result is."""
    return bool(result["leader"] == spec["node"] if result.get("leader") else spec["index"] == 0)

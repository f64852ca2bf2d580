"""Who leads a run, as one of its nodes knows it: `term` and `leader` in its state.json, and in the result.json that it
has.
"""

from typing import TYPE_CHECKING, Optional, Tuple

from flexrack_node.base.stored import or_nothing
from flexrack_node.run.rules import can_be_replaced

if TYPE_CHECKING:
    from flexrack_node.schema.result import RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder, RunState


def leader_known(spec: "KeptRunOrder", state: "RunState", result: "Optional[RunResult]" = None) -> Tuple[int, str]:
    """(term, leader): those of the result, unless the state knows of a newer one; the first node is the first leader."""
    first = (1, spec["nodes"][0] if spec.get("nodes") else spec["node"])
    found = [
        (int(one["term"]), str(one["leader"]))
        for one in (or_nothing(result), state)
        if one.get("term") and one.get("leader")
    ]
    return max(found or [first], key=lambda one: one[0])


def may_be_led_on(spec: "KeptRunOrder") -> bool:
    """Whether another node can lead the run if the first leader is lost: the others are more than half of its nodes,
    and enough for an attempt.
    """
    nodes = spec.get("nodes") or [spec["node"]]
    least = (spec.get("size") or {"min": len(nodes)})["min"]
    return spec.get("scheduler") != "slurm" and can_be_replaced(nodes, nodes[0], (), least)


def is_committed(result: "Optional[RunResult]") -> bool:
    """True for a leader's word on how the run ended, here or on a node that it was copied to.

    What a node writes that has lost its gang, or whose supervisor died, failed or never began, is none. Older versions
    did not say who led; then it is one for which somebody has collected the outputs.
    """
    if not result:
        return False
    return ("leader" in result or "outputs" in result) and not (result.get("partial") or result.get("lost"))


def is_leaders(spec: "KeptRunOrder", result: "RunResult") -> bool:
    """True on the node whose word the result is."""
    return bool(result["leader"] == spec["node"] if result.get("leader") else spec["index"] == 0)

"""Leases of this node's daemon for a kernel or a model server: one of each device, so that each is given back by itself."""

from typing import Any, List, Mapping

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import claims


def take(wish: Mapping[str, Any], count: int, purpose: str, channel: Channel, is_all: bool = True) -> List[Any]:
    """A lease of each of `count` devices, those first that were chosen (`devices`), then those that fewest have. Raises
    GPU_UNAVAILABLE where there are not enough, or without `is_all` where there is none.
    """
    state = claims.state(None, channel)
    if state["state"] != "running":
        raise NodeError("GPU_UNAVAILABLE", "this node shares no GPUs now: flexrack gpu serve")
    shared = [device for lease in state["leases"] for device in lease["devices"]]
    devices = [device for device in state["devices"] if device["api"] == wish["api"]]
    first = wish.get("devices") or []
    devices.sort(key=lambda one: (one["id"] not in first, sum(1 for other in shared if other["id"] == one["id"])))
    taken: List[Any] = []
    why = "there is none"
    for device in devices:
        if len(taken) == count:
            break
        request: Any = {
            "devices": [device["id"]],
            **wish["share"],
            "cap": wish["cap"],
            "owner": wish["owner"],
            "purpose": purpose,
        }
        try:
            taken.append(claims.lease(request, channel))
        except NodeError as error:
            why = error.message
    if len(taken) < count and (is_all or not taken):
        give_back(taken, channel)
        raise NodeError("GPU_UNAVAILABLE", f"{wish['text']}: {why}")
    return taken


def give_back(leases: List[Any], channel: Channel) -> None:
    """Raises nothing: what is not given back here ends by itself, as nobody holds it."""
    for one in leases:
        try:
            claims.release({"lease": one["lease"]}, channel)
        except (NodeError, OSError):
            continue

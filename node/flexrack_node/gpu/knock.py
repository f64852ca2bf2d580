"""gpu.knock: whether this node is let in where it has passes, and reaches the daemons there: told before a kernel needs
it.
"""

import socket
from typing import TYPE_CHECKING, Any, List

from flexrack_node.base.channel import Channel
from flexrack_node.gpu.door_talk import ask
from flexrack_node.gpu.held_passes import try_all

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import GpuPlaces, Knocked

_SECONDS = 6.0


def knock(given: "GpuPlaces", channel: Channel) -> "List[Knocked]":
    places: List[Any] = given["places"]
    problems = try_all(places, _knock_at, 4 * _SECONDS)
    return [{"node": node, "problem": problem} for node, problem in problems.items()]


def _knock_at(place: Any) -> None:
    address = ask(place, {"do": "renew"}, _SECONDS)["address"]
    socket.create_connection((address, int(place["daemon_port"])), _SECONDS).close()

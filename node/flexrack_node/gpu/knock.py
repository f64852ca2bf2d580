"""gpu.knock: whether this node is let in where it has passes, and reaches the daemons there: told before a kernel needs
it.
"""

import socket
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.gpu.door_talk import Refused, ask

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import GpuPlaces, Knocked

_SECONDS = 6.0


def knock(given: "GpuPlaces", channel: Channel) -> "List[Knocked]":
    problems: Dict[str, Optional[str]] = {one["node"]: "it does not answer in time" for one in given["places"]}

    def try_one(place: Any) -> None:
        problems[place["node"]] = _problem(place)

    threads = [threading.Thread(target=try_one, args=(one,), daemon=True) for one in given["places"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * _SECONDS)
    return [{"node": node, "problem": problem} for node, problem in problems.items()]


def _problem(place: Any) -> Optional[str]:
    try:
        address = ask(place, {"do": "renew"}, _SECONDS)["address"]
        socket.create_connection((address, int(place["daemon_port"])), _SECONDS).close()
        return None
    except (OSError, Refused) as error:
        return str(error)

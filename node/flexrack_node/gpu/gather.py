"""The leases of one process that begins, a kernel or a model server, wherever they are: of this node's own daemon first,
else of other nodes for which it has a pass (gpu/passes.py). All or none; on one node where one has enough.
"""

import os
from typing import Any, Callable, Dict, List, Mapping, Tuple, Union

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import door_talk, reach, taking

Server = Dict[str, Any]  # a server of a lease file (gpu.json, LeaseFileServer)
_RELEASE_SECONDS = 5.0


class Gathered:
    """Leases that somebody has to hold soon, as they go into a lease file; `give_back` where nobody will."""

    def __init__(self, leases: List[Any], give_back: Callable[[], None]) -> None:
        self.leases, self.give_back = leases, give_back

    def servers(self, api: str) -> List[Server]:
        return [
            {
                "node": one["node"],
                "address": one["address"],
                "port": one["server"]["port"],
                "unix": one["unix"],
                "boot_id": one["server"]["boot_id"],
                "transport": one["server"]["transport"],
                "api": api,
                "lease": one["lease"],
                "key": one["key"],
                "devices": [{"name": device["name"], "memory": device["memory"]} for device in one["devices"]],
            }
            for one in self.leases
        ]


def gather(wish: Mapping[str, Any], purpose: str, channel: Channel) -> Gathered:
    """Raises GPU_UNAVAILABLE, with what each node said."""
    givers: List[Union[_Own, _Other]] = [
        _Own(wish, purpose, channel),
        *(_Other(place, channel) for place in wish.get("places") or []),
    ]
    wanted, said = int(wish["count"]), []
    for giver in givers:
        try:
            return _gathered([(giver, giver.take(wanted, True))])
        except (NodeError, OSError, door_talk.Refused) as error:
            said.append((giver.node, error.message if isinstance(error, NodeError) else str(error)))
    taken: List[Tuple[Any, List[Any]]] = []
    missing = wanted
    for giver in givers if wanted > 1 and len(givers) > 1 else []:
        try:
            taken.append((giver, giver.take(missing, False)))
        except (NodeError, OSError, door_talk.Refused):
            continue
        missing -= len(taken[-1][1])
        if missing == 0:
            return _gathered(taken)
    _gathered(taken).give_back()
    why = said[0][1] if len(said) == 1 else "; ".join(f"{node}: {text}" for node, text in said)
    raise NodeError("GPU_UNAVAILABLE", why if why.startswith(wish["text"]) else f"{wish['text']}: {why}")


def _gathered(taken: List[Tuple[Any, List[Any]]]) -> Gathered:
    def give_back() -> None:
        for giver, leases in taken:
            giver.give_back(leases)

    return Gathered([lease for _giver, leases in taken for lease in leases], give_back)


class _Own:
    def __init__(self, wish: Mapping[str, Any], purpose: str, channel: Channel) -> None:
        self.node = os.environ.get("FLEXRACK_NODE", "here")
        self.wish, self.purpose, self.channel = wish, purpose, channel

    def take(self, count: int, is_all: bool) -> List[Any]:
        leases = taking.take(self.wish, count, self.purpose, self.channel, is_all)
        for one in leases:
            one.update(node=self.node, address=reached(one["server"]["address"]), unix=one["server"]["unix"])
        return leases

    def give_back(self, leases: List[Any]) -> None:
        taking.give_back(leases, self.channel)


class _Other:
    def __init__(self, place: Mapping[str, Any], channel: Channel) -> None:
        self.node, self.place, self.channel = str(place["node"]), place, channel

    def take(self, count: int, is_all: bool) -> List[Any]:
        answer = door_talk.ask(self.place, {"do": "lease", "count": count, "all": is_all})
        leases: List[Any] = answer["leases"]
        for one in leases:
            try:
                one.update(node=self.node, **self._way(one, answer["address"]))
            except OSError:
                self.give_back(leases)
                raise
        return leases

    def _way(self, lease: Mapping[str, Any], address: str) -> Dict[str, str]:
        """Shared memory where both are one machine, else the address at which its door is, too."""
        server = lease["server"]
        loopback = address in ("localhost", "::1") or address.startswith("127.")
        found = reach.reach(
            {
                "unix": server["unix"],
                "boot_id": server["boot_id"],
                "loopback": address if loopback else None,
                "addresses": [] if loopback else [address],
                "port": server["port"],
                "lease": lease["lease"],
            },
            self.channel,
        )
        if not found["unix"] and found["address"] is None:
            raise OSError(f"its GPU daemon is not reached at {address}, port {server['port']}")
        return {"address": found["address"] or address, "unix": server["unix"] if found["unix"] else ""}

    def give_back(self, leases: List[Any]) -> None:
        for one in leases:
            try:
                door_talk.ask(self.place, {"do": "release", "lease": one["lease"]}, _RELEASE_SECONDS)
            except (OSError, door_talk.Refused):
                continue  # nobody holds it: it ends by itself


def reached(address: str) -> str:
    """A daemon that listens everywhere is reached by loopback here."""
    return "127.0.0.1" if address in ("", "0.0.0.0", "::") else address

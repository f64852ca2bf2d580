"""Listening sockets that a supervisor opens and keeps for its service: who connects while the process is started again
waits in the kernel, instead of being refused. The process finds their numbers in FLEXRACK_SOCKETS, in the order of its
order, as `5,6`.
"""

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, List

from flexrack_node.base.stored import or_nothing

if TYPE_CHECKING:
    from flexrack_node.schema.service import ServiceSocket

VARIABLE = "FLEXRACK_SOCKETS"
_BACKLOG = 511  # as Node.js asks for


class Sockets:
    def __init__(self, wanted: "List[ServiceSocket]") -> None:
        self._wanted = wanted
        self._open: List[socket.socket] = []

    def open(self) -> List[int]:
        """Their numbers; none where one cannot be had, as its port is taken: the process then tries by itself, and says
        what it met.
        """
        if not self._open:
            try:
                for one in self._wanted:
                    self._open.append(listening(one["host"], one["port"] or last_port(one)))
            except OSError:
                self.close()
        return [one.fileno() for one in self._open]

    def environment(self) -> "dict[str, str]":
        return {VARIABLE: ",".join(str(one.fileno()) for one in self._open)} if self._open else {}

    def close(self) -> None:
        """Who waits there is refused, and so is who comes, unless the process itself listens."""
        for one in self._open:
            one.close()
        self._open = []


def listening(host: str, port: int) -> socket.socket:
    """As Node.js listens: an address of its own family, `::` for both. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST | socket.AI_PASSIVE
    )[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(address)
        made.listen(_BACKLOG)
        made.setblocking(False)
        return made
    except OSError:
        made.close()
        raise


def last_port(one: "ServiceSocket") -> int:
    """What the process wrote down of its last start; 0 where there is none yet, so any."""
    last = or_nothing(one.get("last"))
    try:
        found = json.loads(Path(last["file"]).read_text())[last["key"]] if last else 0
        return found if isinstance(found, int) and 0 < found < 65536 else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0

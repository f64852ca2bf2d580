"""The way from this node to a GPU daemon, found by trying."""

import socket
import struct
from typing import TYPE_CHECKING, Tuple, Union

from flexrack_node.base.boot import boot_id
from flexrack_node.base.channel import Channel

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import Reachable, WayQuestion

TRY_SECONDS = 2
_ANSWER = struct.Struct("<4sHHII")


def reach(given: "WayQuestion", channel: Channel) -> "Reachable":
    """{unix, boot_id, loopback, addresses, port, lease} of a daemon -> {unix: it answers at its socket under this very
    kernel, address: the first at which it answers, or null}. `loopback` is tried under its own kernel only: everywhere
    else it is somebody else's.
    """
    try:
        own = boot_id()
    except OSError:
        own = ""
    # The same kernel is not yet the same machine: a container has its own files and its own loopback.
    is_same_kernel = bool(given["boot_id"]) and own == given["boot_id"]
    hosts = ([given["loopback"]] if is_same_kernel and given["loopback"] else []) + given["addresses"]
    found = next((host for host in hosts if _is_there(socket.AF_INET, (host, given["port"]), given["lease"])), None)
    return {"unix": is_same_kernel and _is_there(socket.AF_UNIX, given["unix"], given["lease"]), "address": found}


def _is_there(family: socket.AddressFamily, where: Union[str, Tuple[str, int]], lease: str) -> bool:
    """Whether the daemon that granted the lease answers there: another program, or another daemon, does not know it.
    Proves nothing, as it needs not.
    """
    try:
        if isinstance(where, str):
            connection = socket.socket(family)
            connection.settimeout(TRY_SECONDS)
            connection.connect(where)
        else:
            connection = socket.create_connection(where, TRY_SECONDS)
        with connection:
            # As of a holder over TLS (docs/protocol.md, section 1), which goes no further.
            connection.sendall(
                struct.pack("<8sHHBBHQ16s16sQ", b"FLEXRACK", 1, 1, 4, 1, 0, 0, bytes.fromhex(lease), b"", 0)
            )
            answer = b""
            while len(answer) < _ANSWER.size:
                more = connection.recv(_ANSWER.size - len(answer))
                if not more:
                    return False
                answer += more
        magic, _, turned, _, _ = _ANSWER.unpack(answer)
        return bool(magic == b"FLXA" and turned == 0)
    except (OSError, ValueError):
        return False

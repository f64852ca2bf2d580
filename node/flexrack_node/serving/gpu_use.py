"""How much model servers use the GPUs of this node: the leases of its daemon that are theirs."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, List

from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import admin_socket

if TYPE_CHECKING:
    from flexrack_node.schema.serving import ServerGpuUse

# As the command line names the purpose of a server's lease (src/lib/endpoint/leases.ts).
_PURPOSE = re.compile(r"model server (\S+) on \S+")


def leased_by_servers(root: Path) -> "List[ServerGpuUse]":
    """One entry a lease and GPU, bytes; nothing where no daemon runs here, or it does not answer."""
    try:
        leases: List[Any] = admin_socket.ask(root, {"op": "leases"})["leases"]
    except NodeError:
        return []
    found: List[ServerGpuUse] = []
    for lease in leases:
        purpose = _PURPOSE.fullmatch(lease["purpose"])
        # One that is granted and not taken up, or whose holder is lost, is nobody's use.
        if purpose is None or lease["state"] != "held":
            continue
        found += [
            {
                "service": purpose.group(1),
                "index": device["index"],
                "busy": device["utilization"],
                "used": device["used"],
                "memory": device["memory"],
            }
            for device in lease["devices"]
        ]
    return found

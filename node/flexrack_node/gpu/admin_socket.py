"""What the GPU daemon of this node is asked. Its admin socket takes one JSON line and gives one.

The socket is its owner's alone, and so is the SSH connection that the answers travel on: a lease's key is in one answer
only.
"""

import json
import socket
from pathlib import Path
from typing import Any, Dict

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read

TIMEOUT_SECONDS = 30.0
CODES = {
    "unavailable": "GPU_UNAVAILABLE",
    "unknown_device": "NOT_FOUND",
    "unknown_lease": "NOT_FOUND",
    "invalid": "USAGE",
    "limit": "GPU_UNAVAILABLE",
}


def look(root: Path) -> Any:
    """The daemon's own status; None where none answers."""
    try:
        return ask(root, {"op": "status"})
    except NodeError as error:
        if error.code == "GPU_FAILED":
            return None
        raise


def ask(root: Path, request: Dict[str, Any], seconds: float = TIMEOUT_SECONDS) -> Any:
    """One request, answered within `seconds`. Errors: GPU_FAILED where nobody answers; what the daemon refuses, as CODES
    has it.
    """
    path = or_nothing(read("gpu.address", root / "gpu" / "daemon" / "address.json")).get("admin")
    if not path:
        raise NodeError("GPU_FAILED", "no GPU daemon runs here", "flexrack gpu serve")
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(seconds)
            link.connect(path)
            link.sendall(json.dumps(request).encode() + b"\n")
            while not answer.endswith(b"\n"):
                piece = link.recv(1024 * 1024)
                if not piece:
                    break
                answer += piece
        reported = json.loads(answer)
    except (OSError, ValueError) as error:
        raise NodeError("GPU_FAILED", f"the GPU daemon does not answer: {error}", "flexrack gpu serve") from error
    if "ok" in reported:
        found: Dict[str, Any] = reported["ok"]
        return found
    refused = reported.get("error") or {}
    more = {key: value for key, value in refused.items() if key not in ("code", "message")}
    raise NodeError(
        CODES.get(str(refused.get("code")), "GPU_REFUSED"),
        refused.get("message") or "the GPU daemon refused without a reason",
        None,
        reason=refused.get("code"),
        **more,
    )

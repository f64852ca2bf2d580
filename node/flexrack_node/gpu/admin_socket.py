"""What the GPU daemon of this node is asked: gpu.state, .lease, .release. Its admin socket takes one JSON line and gives one.

The socket is its owner's alone, and so is the SSH connection that the answers travel on: a lease's key is in one answer only.
"""
import json
import socket
from pathlib import Path
from typing import Any, Dict, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.service.record import read_json

TIMEOUT_SECONDS = 30.0
CODES = {"unavailable": "GPU_UNAVAILABLE", "unknown_device": "NOT_FOUND", "unknown_lease": "NOT_FOUND", "invalid": "USAGE", "limit": "GPU_UNAVAILABLE"}


def state(given: Any, channel: Channel) -> Dict[str, Any]:
    """{state: absent|stopped|running, status, devices, leases}. stopped: it should run and does not; a device that a run has reserved says so."""
    from flexrack_node.gpu.claims import mark

    status = look(channel.root)
    if status is None:
        return {"state": "stopped" if (channel.root / "gpu" / "settings.json").exists() else "absent", "status": None, "devices": [], "leases": []}
    devices = ask(channel.root, {"op": "devices"})["devices"]
    leases = ask(channel.root, {"op": "leases"})["leases"]
    return mark({"state": "running", "status": status, "devices": devices, "leases": leases}, channel.root)


def lease(given: Dict[str, Any], channel: Channel) -> Dict[str, Any]:
    """{devices, whole | fraction | memory, compute, cap, owner, purpose} -> {lease, key, server, devices, ...}. GPU_UNAVAILABLE where somebody was quicker, or a run has it."""
    from flexrack_node.gpu.claims import check_unreserved
    from flexrack_node.reservation.place import open_place

    place = open_place(channel.root)
    with place.locked():
        check_unreserved(place, given.get("devices") or [])
        return ask(channel.root, {**given, "op": "lease"})


def release(given: Dict[str, Any], channel: Channel) -> Dict[str, Any]:
    """{lease}: ends it and its workers. NOT_FOUND where there is none of that id."""
    return ask(channel.root, {"op": "release", "lease": given["lease"]})


def look(root: Path) -> Optional[Dict[str, Any]]:
    """The daemon's own status; None where none answers."""
    try:
        return ask(root, {"op": "status"})
    except NodeError as error:
        if error.code == "GPU_FAILED":
            return None
        raise


def ask(root: Path, request: Dict[str, Any]) -> Dict[str, Any]:
    """One request. Errors: GPU_FAILED where nobody answers; what the daemon refuses, as CODES has it."""
    path = (read_json(root / "gpu" / "daemon" / "address.json") or {}).get("admin")
    if not path:
        raise NodeError("GPU_FAILED", "no GPU daemon runs here", "flexrack gpu serve")
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(TIMEOUT_SECONDS)
            link.connect(path)
            link.sendall(json.dumps(request).encode() + b"\n")
            while not answer.endswith(b"\n"):
                piece = link.recv(1024 * 1024)
                if not piece:
                    break
                answer += piece
        told = json.loads(answer)
    except (OSError, ValueError) as error:
        raise NodeError("GPU_FAILED", f"the GPU daemon does not answer: {error}", "flexrack gpu serve") from error
    if "ok" in told:
        return told["ok"]
    refused = told.get("error") or {}
    more = {key: value for key, value in refused.items() if key not in ("code", "message")}
    raise NodeError(CODES.get(refused.get("code"), "GPU_REFUSED"), refused.get("message") or "the GPU daemon refused without a reason", None, reason=refused.get("code"), **more)

"""python3 notebook/with_gpus.py ROOT ENVIRONMENTS PROJECT COMMAND...: a kernel that leases GPUs of this node's daemon
for as long as it lives.

It takes the leases, all or none, and becomes flexrack-lease-keeper, which starts the kernel (in its image, where it has
one), holds the leases while that lives, and ends it with its parent, the notebook's server. Where there is nothing free the kernel does not start,
and the notebook's log says why.
"""

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, cast

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import claims, delivery
from flexrack_node.gpu.lease import environment
from flexrack_node.image.enter import enter_words
from flexrack_node.notebook.folder import NotebookFolder

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder


def main(root: str, environments: str, project: str, command: List[str]) -> int:
    os.umask(0o077)
    channel = Channel(Path(root), Path(environments), io.BytesIO())
    try:
        wish = json.loads((NotebookFolder(channel.root, project).path / "gpus.json").read_text())
        leases = take(wish, project, channel)
        held = deliver(wish, leases, channel)
    except (NodeError, OSError, ValueError) as error:
        print(f"[flexrack] no GPU for a kernel: {error}", file=sys.stderr, flush=True)
        return 1
    if wish.get("order"):
        order: EnterOrder = {**cast("EnterOrder", wish["order"]), "gpus": []}
        if held["libraries"]:
            order["drivers"] = held["libraries"]
        command = enter_words(channel.root, channel.environments, order, command)
    os.execve(held["keeper"], [held["keeper"], held["file"], "--", *command], environment(held, dict(os.environ)))


def take(wish: Dict[str, Any], project: str, channel: Channel) -> List[Any]:
    """A lease of each device, those first that fewest have. GPU_UNAVAILABLE where there are not enough."""
    state = claims.state(None, channel)
    if state["state"] != "running":
        raise NodeError("GPU_UNAVAILABLE", "this node shares no GPUs now: flexrack gpu serve")
    shared = [device for lease in state["leases"] for device in lease["devices"]]
    devices = [device for device in state["devices"] if device["api"] == wish["api"]]
    devices.sort(key=lambda device: sum(1 for other in shared if other["id"] == device["id"]))
    taken: List[Any] = []
    why = "there is none"
    for device in devices:
        if len(taken) == wish["count"]:
            break
        request: Any = {
            "devices": [device["id"]],
            **wish["share"],
            "cap": wish["cap"],
            "owner": wish["owner"],
            "purpose": f"notebook {project}",
        }
        try:
            taken.append(claims.lease(request, channel))
        except NodeError as error:
            why = error.message
    if len(taken) < wish["count"]:
        for one in taken:
            claims.release({"lease": one["lease"]}, channel)
        raise NodeError("GPU_UNAVAILABLE", f"{wish['text']}: {why}")
    return taken


def deliver(wish: Dict[str, Any], leases: List[Any], channel: Channel) -> Any:
    """As src/lib/gpu/lease-file.ts does it for a command of the command line: {keeper, file, folder, libraries, env}."""
    servers = [
        {
            "node": os.environ.get("FLEXRACK_NODE", "here"),
            "address": reached(one["server"]["address"]),
            "port": one["server"]["port"],
            "unix": one["server"]["unix"],
            "boot_id": one["server"]["boot_id"],
            "transport": one["server"]["transport"],
            "api": wish["api"],
            "lease": one["lease"],
            "key": one["key"],
            "devices": [{"name": device["name"], "memory": device["memory"]} for device in one["devices"]],
        }
        for one in leases
    ]
    file: Any = {"version": 1, "grace_seconds": min(one["grace_seconds"] for one in leases), "servers": servers}
    placed = delivery.deliver(
        {"leases": file, "keeper": wish["keeper"], "icd": wish["icd"], "libraries": wish["libraries"]}, channel
    )
    env = {"FLEXRACK_LEASES": placed["file"]}
    if placed["vendors"]:
        env.update(OCL_ICD_VENDORS=placed["vendors"], OPENCL_VENDOR_PATH=placed["vendors"])
    if placed["libraries"] and "flexrack-ptx-passthrough" in wish["libraries"]:
        passthrough = f"{placed['libraries']}/flexrack-ptx-passthrough"
        env.update(TRITON_PTXAS_PATH=passthrough, TRITON_PTXAS_BLACKWELL_PATH=passthrough)
    return {**placed, "env": env}


def reached(address: str) -> str:
    """A daemon that listens everywhere is reached by loopback here."""
    return "127.0.0.1" if address in ("", "0.0.0.0", "::") else address


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))

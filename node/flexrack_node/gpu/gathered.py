"""What a process that leases by itself is started with: the drivers and the file of its leases, in place for it."""

from typing import Any, Dict

from flexrack_node.base.channel import Channel
from flexrack_node.gpu import delivery
from flexrack_node.gpu.gather import Gathered, gather


def held_by(wish: Dict[str, Any], purpose: str, channel: Channel) -> Any:
    """Takes the leases, all or none: {keeper, file, folder, libraries, env}. Who becomes `keeper` with `file` holds
    them. Raises GPU_UNAVAILABLE, with what each node said.
    """
    gathered = gather(wish, purpose, channel)
    try:
        return deliver(wish, gathered, channel)
    except BaseException:
        gathered.give_back()
        raise


def deliver(wish: Dict[str, Any], gathered: Gathered, channel: Channel) -> Any:
    """As src/lib/gpu/lease-file.ts does it for a command of the command line: {keeper, file, folder, libraries, env}."""
    grace = min(one["grace_seconds"] for one in gathered.leases)
    file: Any = {"version": 1, "grace_seconds": grace, "servers": gathered.servers(wish["api"])}
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

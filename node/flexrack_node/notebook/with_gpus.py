"""python3 notebook/with_gpus.py ROOT ENVIRONMENTS PROJECT COMMAND...: a kernel that leases GPUs for as long as it
lives: of this node's daemon, or of other nodes (notebook/gather.py).

It takes the leases, all or none, and becomes flexrack-lease-keeper, which starts the kernel (in its image, where it has
one), holds the leases while that lives, and ends it with its parent, the notebook's server. Where there is nothing free
the kernel does not start, and the notebook's log says why.
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
from flexrack_node.gpu import delivery
from flexrack_node.gpu.lease import environment
from flexrack_node.image.enter import enter_words
from flexrack_node.notebook.folder import NotebookFolder
from flexrack_node.notebook.gather import Gathered, gather

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder


def main(root: str, environments: str, project: str, command: List[str]) -> int:
    os.umask(0o077)
    channel = Channel(Path(root), Path(environments), io.BytesIO())
    try:
        wish = json.loads((NotebookFolder(channel.root, project).path / "gpus.json").read_text())
        gathered = gather(wish, project, channel)
        try:
            held = deliver(wish, gathered, channel)
        except BaseException:
            gathered.give_back()
            raise
    except (NodeError, OSError, ValueError) as error:
        print(f"[flexrack] no GPU for a kernel: {error}", file=sys.stderr, flush=True)
        return 1
    if wish.get("order"):
        order: EnterOrder = {**cast("EnterOrder", wish["order"]), "gpus": []}
        if held["libraries"]:
            order["drivers"] = held["libraries"]
        command = enter_words(channel.root, channel.environments, order, command)
    os.execve(held["keeper"], [held["keeper"], held["file"], "--", *command], environment(held, dict(os.environ)))


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))

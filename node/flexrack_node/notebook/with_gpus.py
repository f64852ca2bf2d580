"""python3 notebook/with_gpus.py ROOT ENVIRONMENTS PROJECT COMMAND...: a kernel that leases GPUs for as long as it
lives: of this node's daemon, or of other nodes (gpu/gather.py).

It takes the leases, all or none, and becomes flexrack-lease-keeper, which starts the kernel (in its image, where it has
one), holds the leases while that lives, and ends it with its parent, the notebook's server. Where there is nothing free
the kernel does not start, and the notebook's log says why.
"""

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, List, cast

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu.gathered import held_by
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
        held = held_by(wish, f"notebook {project}", channel)
    except (NodeError, OSError, ValueError) as error:
        print(f"[flexrack] no GPU for a kernel: {error}", file=sys.stderr, flush=True)
        return 1
    if wish.get("order"):
        order: EnterOrder = {**cast("EnterOrder", wish["order"]), "gpus": []}
        if held["libraries"]:
            order["drivers"] = held["libraries"]
        command = enter_words(channel.root, channel.environments, order, command)
    os.execve(held["keeper"], [held["keeper"], held["file"], "--", *command], environment(held, dict(os.environ)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))

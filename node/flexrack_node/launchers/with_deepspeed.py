"""DeepSpeed's launcher of one node, as `deepspeed` starts it on each over ssh: `with_deepspeed.py FOLDER WORDS...`, of
which each rank runs WORDS.

The plan comes in FLEXRACK_LAUNCH, so that there is neither a hostfile nor a way from node to node, and no argv says
where the ranks meet.
"""

import base64
import json
import os
import sys
from typing import List, TypedDict


class Place(TypedDict):
    """A node's part of the plan, as rank/packaged.py makes it."""

    nodes: int
    processes: int
    index: int
    address: str
    port: int


def arguments_of(place: Place) -> List[str]:
    """Of deepspeed.launcher.launch. The numbers of a node's processes stand where GPUs would: rank/rank.py gives the
    ranks theirs.
    """
    world = {f"node-{index}": list(range(place["processes"])) for index in range(place["nodes"])}
    encoded = base64.urlsafe_b64encode(json.dumps(world).encode()).decode()
    return [
        f"--world_info={encoded}",
        f"--node_rank={place['index']}",
        f"--master_addr={place['address']}",
        f"--master_port={place['port']}",
        "--no_python",
        "--no_local_rank",
    ]


def main() -> None:
    place: Place = json.loads(os.environ.pop("FLEXRACK_LAUNCH"))
    try:
        from deepspeed.launcher import launch
    except ImportError as error:
        sys.exit(
            f"train.launcher is deepspeed, and the environment has none: add deepspeed to workspace.python ({error})"
        )
    sys.argv = ["deepspeed", *arguments_of(place), *sys.argv[2:]]
    launch.main()


if __name__ == "__main__":
    main()

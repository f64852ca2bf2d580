"""python3 serving/with_gpus.py ROOT SERVICE COMMAND...: a service that leases GPUs for as long as its process lives: of
this node's daemon, or of other nodes (gpu/gather.py).

It takes the leases, all or none, and becomes flexrack-lease-keeper, which starts COMMAND and holds the leases while that
lives, also without its supervisor; a lease that is over ends it, and its next start takes another one. Where there is
nothing free it does not start, its log says why, and its supervisor tries again.
"""

import io
import os
import sys
from pathlib import Path
from typing import List

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu.gathered import held_by
from flexrack_node.gpu.lease import environment
from flexrack_node.service.gpus import NOTHING_FREE
from flexrack_node.service.record import ServiceRecord

# In words of the command: where the drivers of these leases lie.
LIBRARIES = "@FLEXRACK_LEASED_LIBRARIES@"


def main(root: str, service: str, command: List[str]) -> int:
    os.umask(0o077)
    channel = Channel(Path(root), Path(root) / "environments", io.BytesIO())
    try:
        wish = ServiceRecord(channel.root, service).spec()["gpus"]
        held = held_by(dict(wish), wish["purpose"], channel)
    except (NodeError, OSError, KeyError) as error:
        print(f"[flexrack] no GPU for {service}: {error}", file=sys.stderr, flush=True)
        return NOTHING_FREE
    command = [word.replace(LIBRARIES, held["libraries"] or "") for word in command]
    keeper = [held["keeper"], "--stay", "--end-with-lease", held["file"], "--"]
    os.execve(held["keeper"], [*keeper, *command], environment(held, dict(os.environ)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))

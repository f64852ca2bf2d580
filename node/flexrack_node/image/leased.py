"""What a program with leased GPUs has to reach from inside: the file of its leases, our drivers, and the socket of each
daemon of this machine that it was told of.

Not the daemon's folder, which has its admin socket, too: who reaches that could lease whatever is free. The memory that
both share has no name: the daemon hands its descriptor over through the socket (docs/protocol.md), so no /dev/shm is
needed.
"""

import json
import os
import stat
from pathlib import Path
from typing import List, Mapping, NamedTuple

_MOST = 1 << 20  # bytes of the file


class Leased(NamedTuple):
    read: List[str]
    sockets: List[str]


def leased(root: Path, env: Mapping[str, str]) -> Leased:
    """Both empty where nothing is leased. Only what `gpu.deliver` has put below `root` counts: the variable may be
    anybody's.
    """
    file = env.get("FLEXRACK_LEASES", "")
    folder = os.path.dirname(file)
    if not os.path.isabs(file) or os.path.realpath(os.path.dirname(folder)) != os.path.realpath(
        root / "gpu" / "leases"
    ):
        return Leased([], [])
    try:
        with open(file, "rb") as source:
            servers = json.loads(source.read(_MOST))["servers"]
        named = [one["unix"] for one in servers]
    except (OSError, ValueError, KeyError, TypeError):
        named = []
    return Leased([folder, str(root / "gpu" / "program")], [path for path in dict.fromkeys(named) if is_socket(path)])


def is_socket(path: object) -> bool:
    try:
        return isinstance(path, str) and os.path.isabs(path) and stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False

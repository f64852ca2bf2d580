"""Paths of unix sockets: sun_path has 108 bytes with its NUL, and servers that are given a longer one say that they run
and do not listen.
"""

import hashlib
import os
import stat
from pathlib import Path

from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record

LONGEST = 107  # bytes


def short_socket(root: Path, of: Path, beside: str = "") -> Path:
    """<root>/s/<8 hex of `of`>, in a folder of this user alone; below /tmp where the root is too long for it, or for
    its path with `beside` after it.

    The same whenever it is asked for. Errors: NODE_UNFIT where somebody else has the folder below /tmp.
    """
    name = hashlib.sha256(str(of.resolve()).encode()).hexdigest()[:8]
    short = root / "s" / name
    if len(os.fsencode(f"{short}{beside}")) <= LONGEST:
        record(root, short.parent, "sockets")
        short.parent.mkdir(mode=0o700, exist_ok=True)
        return short
    folder = Path(f"/tmp/flexrack-{os.geteuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise NodeError("NODE_UNFIT", f"{folder} is not a folder of this user alone", f"rm -r {folder}")
    return folder / name

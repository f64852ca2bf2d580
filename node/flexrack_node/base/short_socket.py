"""Paths of unix sockets: sun_path has 108 bytes with its NUL, and servers that are given a longer one say that they run
and do not listen.
"""

import contextlib
import hashlib
import os
import shutil
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
    name = name_of(of)
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


def remove_sockets(root: Path, of: Path) -> None:
    """The socket of `of`, wherever it is, and what is beside it: its path with a point and more."""
    for folder in (root / "s", Path(f"/tmp/flexrack-{os.geteuid()}")):
        if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != os.geteuid():
            continue
        for found in (folder / name_of(of), *folder.glob(f"{name_of(of)}.*")):
            if found.is_dir() and not found.is_symlink():
                shutil.rmtree(found, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    found.unlink()
        with contextlib.suppress(OSError):  # others may have theirs there
            folder.rmdir()


def name_of(of: Path) -> str:
    return hashlib.sha256(str(of.resolve()).encode()).hexdigest()[:8]

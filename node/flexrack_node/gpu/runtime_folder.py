"""The daemon's sockets and shared files, where its own folder's path is too long for a socket.

A broker that ends removes them itself. One that was killed does not: what it has left is removed with its daemon.
"""

import fcntl
import os
import re
import stat
from pathlib import Path
from typing import Optional

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read

NAMES = re.compile(r"admin\.sock|client\.sock|[wlgr][0-9a-f]+")  # as native/server/folder.cpp has them


def find(daemon: Path) -> Optional[Path]:
    """Where the last daemon of this folder said that its sockets are, if that is outside of it."""
    try:
        said = or_nothing(read("gpu.address", daemon / "address.json")).get("runtime")
    except NodeError:  # a daemon of another version wrote it
        return None
    path = Path(str(said or ""))
    ours = re.fullmatch(rf"flexrack-({os.geteuid()}-)?[0-9a-f]{{12}}", path.name)
    return path if ours and path.is_absolute() else None


def remove(path: Path, daemon: Path) -> None:
    """What has our names in it, and itself if that was all. Nothing, where a broker has this daemon's folder yet, or
    the other one is not this account's alone.
    """
    try:
        lock = os.open(str(daemon / "lock"), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # no daemon has been here
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = os.open(str(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            about = os.fstat(folder)
            if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
                return
            for name in os.listdir(folder):
                if NAMES.fullmatch(name):
                    os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)
        path.rmdir()
    except OSError:
        pass  # somebody serves, it is gone already, or there is something else in it
    finally:
        os.close(lock)

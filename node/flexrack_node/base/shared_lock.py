"""A lock on an open file that holds between machines, too: open file description locks (fcntl(2), F_OFD_SETLK).

Over NFS they are what the server itself keeps, so they also count on a server that uses its own disk; there flock(2)
would be the machine's own. Unlike other locks of POSIX they belong to the open file: two of one process exclude each
other, and closing another descriptor of the file does not end them.
"""

import errno
import fcntl
import os
import struct
import time

_FLOCK = "hhqqi0q"  # struct flock: type, whence, start, length (0: all), pid (0, as F_OFD_SETLK wants it)


def take(fd: int, shared: bool = False) -> bool:
    """False where somebody has it. `shared`: askers do not exclude each other; the file need be open for reading only."""
    try:
        fcntl.fcntl(
            fd, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, fcntl.F_RDLCK if shared else fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        )
        return True
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False


def let_go(fd: int) -> None:
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0))


def wait(fd: int) -> None:
    while not take(fd):
        time.sleep(0.01)


def look_anew(*folders: "os.PathLike[str]") -> None:
    """What others have made and removed in them is seen: NFS answers from what it remembers of a folder for up to a
    minute, unless it has changed the folder itself.
    """
    for folder in folders:
        try:
            os.utime(folder)
        except OSError:
            continue  # it is not there, or another user's

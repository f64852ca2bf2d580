"""Terminals of sshd where the pseudo-terminals have no group.

sshd gives a terminal to the group `tty` where /etc/group has one (sshpty.c, pty_setowner), and ends when it may not. An
ordinary user may not where devpts was mounted without `gid=5`, as in small containers: there a new terminal has the
user's own group. Without the group in /etc/group sshd leaves a terminal to that one. So it gets an /etc/group of its
own, in a mount namespace of its own.
"""

import ctypes
import grp
import os
from pathlib import Path

from flexrack_node.process import own_namespaces

_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18  # sys/mount.h


def are_refused() -> bool:
    """Whether sshd, as this user, could not make a terminal."""
    if os.geteuid() == 0:
        return False
    try:
        wanted = grp.getgrnam("tty").gr_gid
        ends = os.openpty()
    except (KeyError, OSError):
        return False
    try:
        return os.fstat(ends[1]).st_gid != wanted and wanted not in os.getgroups()
    finally:
        for end in ends:
            os.close(end)


def hide_group(draft: Path) -> None:
    """From now on this process and what it starts read an /etc/group without `tty`; `draft` is where that file is
    written. OSError where the kernel allows no namespaces.
    """
    text = Path("/etc/group").read_bytes()
    draft.write_bytes(b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"tty:")))
    draft.chmod(0o644)
    own_namespaces.enter(own_namespaces.NEW_MOUNTS)
    libc = ctypes.CDLL(None, use_errno=True)
    own_namespaces.check(libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None))
    own_namespaces.check(libc.mount(os.fsencode(draft), b"/etc/group", None, ctypes.c_ulong(_MS_BIND), None))

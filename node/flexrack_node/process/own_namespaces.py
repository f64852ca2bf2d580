"""Namespaces for this process and what it starts from now on, without root where the kernel allows it:
user_namespaces(7), network_namespaces(7).

Call it while the process has one thread.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

NEW_MOUNTS, NEW_NETWORK = 0x00020000, 0x40000000  # sched.h
_NEW_USER = 0x10000000
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40  # linux/sockios.h, net/if.h


def enter(kinds: int) -> None:
    """Namespaces of these kinds, owned by a user namespace in which users and groups are called as outside. OSError
    where the kernel allows none.
    """
    uid, gid = os.geteuid(), os.getegid()
    check(ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER | kinds))
    # Without the first an ordinary user may not map a group.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def enter_own_network() -> bool:
    """A network of its own, that has a loopback and nothing else: no other account reaches what listens there. False
    where that is not allowed; then nothing has changed.
    """
    trial = os.fork()
    if trial == 0:
        works = 1
        with contextlib.suppress(OSError):
            _enter_network()
            works = 0
        os._exit(works)
    if os.waitstatus_to_exitcode(os.waitpid(trial, 0)[1]) != 0:
        return False
    _enter_network()
    return True


def _enter_network() -> None:
    enter(NEW_NETWORK)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP | _IFF_RUNNING))


def check(result: int) -> None:
    """Of a function of the C library. OSError with its reason."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

"""POSIX access control lists, as the kernel keeps them in extended attributes: acl(5); their bytes are of
include/uapi/linux/posix_acl_xattr.h.

Written here and not by setfacl(1), which not every machine has.
"""

import errno
import os
import stat
import struct
from typing import Dict, List, Optional, Tuple

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
READ, WRITE, EXECUTE = 4, 2, 1
_VERSION = 2
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NOBODY = 0xFFFFFFFF
Entries = Dict[Tuple[int, int], int]  # (tag, id): permissions


def set_user(path: str, uid: int, allowed: Optional[int], kind: str = ACCESS) -> None:
    """Gives `uid` these permissions, or with None no entry any more. Follows no link. Raises OSError: ENOTSUP where the
    file system has no lists, EPERM where it is another's.
    """
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, "is a symbolic link", path)
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        if os.fstat(fd).st_ino != status.st_ino:
            raise OSError(errno.ESTALE, "was replaced meanwhile", path)
        _change(f"/proc/self/fd/{fd}", status.st_mode, uid, allowed, kind)
    finally:
        os.close(fd)


def _change(place: str, mode: int, uid: int, allowed: Optional[int], kind: str) -> None:
    entries = read(place, kind)
    if not entries:
        if allowed is None:
            return
        entries = _of_mode(mode if kind == ACCESS else mode & 0o077 | 0o700)
    if allowed is None:
        if entries.pop((_USER, uid), None) is None:
            return
    elif entries.get((_USER, uid)) == allowed:
        return
    else:
        entries[(_USER, uid)] = allowed
    if any(tag in (_USER, _GROUP) for tag, _ in entries):
        # What the group class may have at most: never less than somebody was given, nor more than they together were.
        entries[(_MASK, _NOBODY)] = _together(entries)
        os.setxattr(place, kind, _bytes(entries))
    elif kind == DEFAULT:
        os.removexattr(place, kind)
    else:
        entries.pop((_MASK, _NOBODY), None)
        os.setxattr(place, kind, _bytes(entries))  # without named entries it is a mode again


def read(path: str, kind: str = ACCESS) -> Entries:
    """Empty: it has none but what its mode says."""
    try:
        data = os.getxattr(path, kind)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP):
            return {}
        raise
    if len(data) < 4 or struct.unpack_from("<I", data)[0] != _VERSION:
        raise OSError(errno.EINVAL, "has an access control list of an unknown version", path)
    return {(tag, who): allowed for tag, allowed, who in struct.iter_unpack("<HHI", data[4:])}


def allowed_to(path: str, uid: int, gids: List[int]) -> int:
    """What an account may do with a file, by its mode and list: the algorithm of acl(5). Raises OSError."""
    status = os.stat(path)
    if status.st_uid == uid:
        return (status.st_mode >> 6) & 7
    entries = read(path)
    mask = entries.get((_MASK, _NOBODY), 7)
    if (_USER, uid) in entries:
        return entries[(_USER, uid)] & mask
    groups = {
        status.st_gid: entries.get((_GROUP_OBJ, _NOBODY), (status.st_mode >> 3) & 7),
        **{who: allowed for (tag, who), allowed in entries.items() if tag == _GROUP},
    }
    mine = [allowed & mask for who, allowed in groups.items() if who in gids]
    if mine:
        return max(mine)
    return status.st_mode & 7


def _of_mode(mode: int) -> Entries:
    return {(_USER_OBJ, _NOBODY): (mode >> 6) & 7, (_GROUP_OBJ, _NOBODY): (mode >> 3) & 7, (_OTHER, _NOBODY): mode & 7}


def _together(entries: Entries) -> int:
    found = 0
    for (tag, _), allowed in entries.items():
        if tag in (_USER, _GROUP_OBJ, _GROUP):
            found |= allowed
    return found


def _bytes(entries: Entries) -> bytes:
    return struct.pack("<I", _VERSION) + b"".join(
        struct.pack("<HHI", tag, allowed, who) for (tag, who), allowed in sorted(entries.items())
    )

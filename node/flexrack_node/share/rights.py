"""Rights to read a folder, by access control lists: given, taken back, and the way there, which must not open more than
is meant.
"""

import errno
import os
import pwd
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.share import acl

if TYPE_CHECKING:
    from flexrack_node.schema.share import ShareRecord


def give(record: "ShareRecord") -> int:
    """Reading and entering for the account of `record`, also for what will be made there. Returns how many entries are
    others' or cannot be given. Raises NODE_UNFIT.
    """
    uid, skipped = record["user_uid"], 0
    _open_way(record)
    for path, mode in entries(record["folder"]):
        try:
            if stat.S_ISDIR(mode):
                acl.set_user(path, uid, acl.READ | acl.EXECUTE)
                acl.set_user(path, uid, acl.READ | acl.EXECUTE, acl.DEFAULT)
            else:
                acl.set_user(path, uid, acl.READ | (acl.EXECUTE if mode & stat.S_IXUSR else 0))
        except OSError as error:
            if path == record["folder"]:
                raise _unfit(path, error) from None
            skipped += 1
    return skipped


def take(record: "ShareRecord", others: "List[ShareRecord]") -> int:
    """Takes back what `give` gave; `others`: what the account is still given. Returns how many entries could not be
    changed.
    """
    uid, left = record["user_uid"], 0
    kept = [one["folder"] for one in others if one["access"] == "read"]
    if record["access"] == "read":
        for path, mode in entries(record["folder"]):
            if any(path == folder or path.startswith(folder + os.sep) for folder in kept):
                continue
            for kind in (acl.ACCESS, acl.DEFAULT) if stat.S_ISDIR(mode) else (acl.ACCESS,):
                left += _withdrawn(path, uid, kind)
    needed = {path for one in others for path in [*one["opened"], *one["closed"]]}
    for path in [*record["opened"], *record["closed"]]:
        if path not in needed:
            left += _withdrawn(path, uid, acl.ACCESS)
            left += _withdrawn(path, uid, acl.DEFAULT)
    return left


def _withdrawn(path: str, uid: int, kind: str) -> int:
    """1 where it could not be done."""
    try:
        acl.set_user(path, uid, None, kind)
    except FileNotFoundError:
        pass
    except OSError as error:
        return 0 if error.errno in (errno.ELOOP, errno.ENOTSUP, errno.ENOTDIR) else 1
    return 0


def entries(folder: str) -> Iterator[Tuple[str, int]]:
    """The folder and all below: (path, mode), of files and folders. No link is followed, and nothing of another file
    system is entered.
    """
    device = os.lstat(folder).st_dev
    yield folder, os.lstat(folder).st_mode
    for at, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(at, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) or (stat.S_ISDIR(status.st_mode) and status.st_dev == device):
                yield path, status.st_mode
        folders[:] = [name for name in folders if os.lstat(os.path.join(at, name)).st_dev == device]


def _open_way(record: "ShareRecord") -> None:
    """
    Lets the account pass the folders above, where these are closed to it and ours. What else lies in such a folder was
    closed by it: each entry that its own mode would open is closed to this account, and so is what will be made there.
    """
    uid = record["user_uid"]
    gids = os.getgrouplist(record["user"], pwd.getpwuid(uid).pw_gid)
    folder = Path(record["folder"])
    for parent, child in reversed([(above, below) for above, below in zip(folder.parents, [folder, *folder.parents])]):
        if acl.allowed_to(str(parent), uid, gids) & acl.EXECUTE:
            continue
        if os.stat(parent).st_uid != os.getuid():
            raise NodeError(
                "NODE_UNFIT",
                f"{record['user']} may not enter {parent}, which is not this account's",
                "share a folder below one that others may enter",
                path=str(parent),
            )
        try:
            for entry in sorted(os.scandir(parent), key=lambda one: one.name):
                mode = entry.stat(follow_symlinks=False).st_mode
                if entry.name != child.name and not stat.S_ISLNK(mode) and acl.allowed_to(entry.path, uid, gids):
                    acl.set_user(entry.path, uid, 0)
                    record["closed"].append(entry.path)
            acl.set_user(str(parent), uid, 0, acl.DEFAULT)
            acl.set_user(str(parent), uid, acl.EXECUTE)
            record["opened"].append(str(parent))
        except OSError as error:
            raise _unfit(str(parent), error) from None


def _unfit(path: str, error: OSError) -> NodeError:
    if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP):
        return NodeError(
            "NODE_UNFIT",
            f"the file system of {path} has no access control lists",
            "share it with --write, which needs none, or move it to another file system",
            path=path,
        )
    return NodeError("NODE_UNFIT", f"the rights of {path} cannot be changed: {error.strerror}", None, path=path)

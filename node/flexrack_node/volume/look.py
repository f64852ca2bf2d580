"""volume.look, .mark: whether a volume can be used here as it is asked for, and whether other nodes see the same one."""

import os
import re
import stat
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError

if TYPE_CHECKING:
    from flexrack_node.schema.image import BoundVolume
    from flexrack_node.schema.volume import VolumeMark, VolumeMarked, VolumeQuestion, VolumeQuota, VolumeSeen

_MARK = ".flexrack-check-"
_OLD_SECONDS = 86_400.0  # a mark that nobody looks for any more
_SEEN_SECONDS = 10.0  # for a shared file system to show what another node has written
_QUOTA_SECONDS = 10


class Mount(NamedTuple):
    point: str
    type: str
    source: str


def look(given: "VolumeQuestion", _channel: Channel) -> "List[VolumeSeen]":
    """{volumes: [{name, path, write}], try_write?}: each as it is here. Nothing is written but with try_write."""
    return [_seen(one, bool(given.get("try_write"))) for one in given["volumes"]]


def need(volumes: "Optional[Sequence[BoundVolume]]") -> None:
    """Raises NODE_UNFIT where one cannot be used as asked."""
    for one in volumes or []:
        found = trouble(one["path"], one["write"])
        if found:
            raise NodeError("NODE_UNFIT", f"the volume {one['name']} cannot be used: {found[0]}", found[1])


def trouble(path: str, write: bool) -> Optional[Tuple[str, Optional[str]]]:
    """(why, what helps) it cannot be used; None where it can."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return f"{path} is not there", "mount it, or leave the node out by `nodes` of the volume in the rack file"
    except OSError as error:  # also ESTALE, EIO and ETIMEDOUT of a server that has gone
        return f"{path}: {error.strerror}", "mount it again"
    if not stat.S_ISDIR(info.st_mode):
        return f"{path} is not a folder", "change its path in the rack file"
    taken = _who_else(path)
    if taken:
        return taken, "have its folders belong to root or to you, and let nobody else write there"
    if not os.access(path, os.R_OK | os.X_OK):
        return f"this account may not read {path}", "ask those who run the machine"
    if write and not os.access(path, os.W_OK):
        readonly = os.statvfs(path).f_flag & os.ST_RDONLY
        why = f"{path} is mounted read-only" if readonly else f"this account may not write to {path}"
        return why, "leave out :rw in flexrack.yaml, or ask those who run the machine"
    return None


def _who_else(path: str) -> Optional[str]:
    """Who could put another folder, or a link to one of ours, in its place: it is bound into sandboxes that see none of
    our files.
    """
    ours = (0, os.getuid())
    for place in (path, os.path.realpath(path)):
        below = Path(place)
        for folder in below.parents:
            try:
                info, child = os.stat(folder), os.lstat(below)
            except OSError:
                return None
            if info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX:
                return f"everybody may replace {below}"
            if info.st_mode & stat.S_ISVTX and info.st_mode & stat.S_IWOTH and child.st_uid not in ours:
                return f"{below} belongs to another account (uid {child.st_uid}), which may replace it"
            below = folder
    return None


def _seen(one: "BoundVolume", try_write: bool) -> "VolumeSeen":
    path = one["path"]
    found = trouble(path, one["write"])
    if not found and try_write and one["write"]:
        found = _write_test(path)
    empty: VolumeSeen = {
        "name": one["name"],
        "path": path,
        "trouble": found[0] if found else None,
        "hint": found[1] if found else None,
        "type": "",
        "source": "",
        "mount": "",
        "free": 0,
        "total": 0,
        "quota": None,
        "writable": False,
        "identity": "",
    }
    try:
        info, sizes, mount = os.stat(path), os.statvfs(path), mount_of(path, Path("/proc/self/mountinfo").read_text())
    except OSError:
        return empty
    return {
        **empty,
        "type": mount.type,
        "source": mount.source,
        "mount": mount.point,
        "free": sizes.f_bavail * sizes.f_frsize,
        "total": sizes.f_blocks * sizes.f_frsize,
        "quota": quota_of(mount),
        "writable": os.access(path, os.W_OK),
        "identity": f"{info.st_ino}:{info.st_mtime_ns}",
    }


def mount_of(path: str, mountinfo: str) -> Mount:
    """The mount that a path is in: the longest mount point that begins it, the last one where several are on one
    (proc(5)).
    """
    real = os.path.realpath(path)
    found = Mount("", "", "")
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4].encode().decode("unicode_escape")
        if (real == point or real.startswith(point.rstrip("/") + "/")) and len(point) >= len(found.point):
            kind, source = after.split()[:2]
            found = Mount(point, kind, source)
    return found


def quota_of(mount: Mount) -> "Optional[VolumeQuota]":
    """What quota(1) of this node knows of our account there; None without it, or without a quota."""
    try:
        done = subprocess.run(
            ["quota", "-u", "-w", "-p", "--show-mntpoint", "--hide-device"],
            capture_output=True,
            text=True,
            timeout=_QUOTA_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_quota(done.stdout, mount.point)


def read_quota(text: str, point: str) -> "Optional[VolumeQuota]":
    """Of `quota -w -p --show-mntpoint --hide-device`: mount point, blocks of 1 KiB (with a `*` where
    there are too many), soft limit, hard limit; 0: no limit.
    """
    for line in text.splitlines():
        match = re.match(rf"\s*{re.escape(point)}\s+(\d+)\*?\s+(\d+)\s+(\d+)\s", line + " ")
        if match:
            used, soft, hard = (int(one) * 1024 for one in match.groups())
            limit = hard or soft
            return {"used": used, "limit": limit} if limit else None
    return None


def _write_test(path: str) -> Optional[Tuple[str, Optional[str]]]:
    nonce = os.urandom(8).hex()
    try:
        _put(path, nonce)
        same = _get(path, nonce)
    except OSError as error:
        full = error.errno in (28, 122)  # ENOSPC, EDQUOT
        return (
            f"nothing can be written to {path}: {error.strerror}",
            "remove files there" if full else "ask those who run the machine",
        )
    finally:
        _drop(path, nonce)
    return None if same else (f"what is written to {path} is not what is read from it", "check the disk")


def mark(given: "VolumeMark", _channel: Channel) -> "VolumeMarked":
    """{path, nonce, step: write|read|remove} -> {found}. Reading waits for a file system that shows it late."""
    path, nonce = given["path"], given["nonce"]
    if not re.fullmatch(r"[0-9a-f]{16,64}", nonce):
        raise NodeError("BUG", f"not a nonce: {nonce!r}")
    try:
        if given["step"] == "remove":
            return {"found": _drop(path, nonce)}
        if given["step"] == "write":
            _tidy(path)
            _put(path, nonce)
            return {"found": True}
        end = time.monotonic() + _SEEN_SECONDS
        while not _get(path, nonce):
            if time.monotonic() > end:
                return {"found": False}
            os.listdir(path)  # makes a shared file system look anew
            time.sleep(0.2)
        return {"found": True}
    except OSError as error:
        raise NodeError("NODE_UNFIT", f"{path}: {error.strerror}", None) from error


def _put(path: str, nonce: str) -> None:
    # Other nodes may be other accounts there: all may read it.
    fd = os.open(
        os.path.join(path, _MARK + nonce), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644
    )
    try:
        os.write(fd, nonce.encode())
        os.fsync(fd)
    finally:
        os.close(fd)


def _get(path: str, nonce: str) -> bool:
    try:
        fd = os.open(os.path.join(path, _MARK + nonce), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return os.read(fd, 100) == nonce.encode()
    finally:
        os.close(fd)


def _drop(path: str, nonce: str) -> bool:
    try:
        os.unlink(os.path.join(path, _MARK + nonce))
        return True
    except OSError:
        return False


def _tidy(path: str) -> None:
    """Marks of checks that were killed."""
    for entry in os.scandir(path):
        if re.fullmatch(re.escape(_MARK) + r"[0-9a-f]{16,64}", entry.name):
            try:
                info = entry.stat(follow_symlinks=False)
                if info.st_uid == os.getuid() and time.time() - info.st_mtime > _OLD_SECONDS:
                    os.unlink(entry.path)
            except OSError:
                continue

"""An image as one folder, for runtimes that stack no layers: what overlayfs would show, copied. Facts: kernel,
filesystems/overlayfs; OCI image-spec, layer.md.

A copy and no hard links: what such a runtime does not keep programs from writing must not be the layers of other
images. No folder of it may be written to by its owner, so that what is written there fails, as it could not be gone at
the end.
"""

import fcntl
import os
import stat
from pathlib import Path
from typing import Dict, List, Tuple

from flexrack_node.image.merged import is_opaque
from flexrack_node.image.scoped import discard, kind_of

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 64 << 20
_WRITE = 0o222


def flatten(layers: List[str], folder: str) -> None:
    """`layers`: absolute paths, the lowest first; `folder` is there and empty. Raises OSError; the folder is then half
    full, and the caller's to discard (`remove`).
    """
    top = os.open(folder, _FOLDER)
    try:
        for layer in layers:
            source = os.open(layer, _FOLDER)
            try:
                _merge(source, top, {}, top, b"")
            finally:
                os.close(source)
        _close_folders(top)
    finally:
        os.close(top)


def remove(folder: str) -> None:
    """The whole of it; its folders refuse that first."""
    import shutil

    from flexrack_node.base.installed import make_writable

    make_writable(Path(folder))
    shutil.rmtree(folder, ignore_errors=True)


def mount_point(folder: str, path: str, is_folder: bool) -> None:
    """Something to mount over at an absolute path without links (MergedLayers.resolve): empty, where nothing is there
    yet. Raises OSError.
    """
    opened = os.open(folder, _FOLDER)
    parts = [part.encode() for part in path.split("/") if part]
    lock = os.dup(opened)
    # until it is closed: of the folders on the way one entrance at a time opens and closes the rights
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        for index, name in enumerate(parts):
            last = index == len(parts) - 1
            if kind_of(name, opened) is None:
                mode = stat.S_IMODE(os.fstat(opened).st_mode)
                os.fchmod(opened, mode | 0o200)
                try:
                    if last and not is_folder:
                        os.close(
                            os.open(name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o444, dir_fd=opened)
                        )
                    else:
                        os.mkdir(name, 0o755, dir_fd=opened)
                finally:
                    os.fchmod(opened, mode)
            if not last:
                below = os.open(name, _FOLDER, dir_fd=opened)
                os.close(opened)
                opened = below
    finally:
        os.close(opened)
        os.close(lock)


def _merge(source: int, target: int, links: Dict[Tuple[int, int], bytes], top: int, path: bytes) -> None:
    """What one folder of a layer has, into the same folder of what lies below; links are never followed."""
    if is_opaque(source):
        for old in os.listdir(target):
            discard(os.fsencode(old), target)
    with os.scandir(source) as entries:
        names = sorted(os.fsencode(one.name) for one in entries)
    for name in names:
        info = os.stat(name, dir_fd=source, follow_symlinks=False)
        kind, there = stat.S_IFMT(info.st_mode), kind_of(name, target)
        if there is not None and not (kind == there == stat.S_IFDIR):
            discard(name, target)
            there = None
        here = path + b"/" + name
        if kind == stat.S_IFDIR:
            if there is None:
                os.mkdir(name, 0o700, dir_fd=target)
            below = [os.open(name, _FOLDER, dir_fd=one) for one in (source, target)]
            try:
                _merge(below[0], below[1], links, top, here)
                os.fchmod(below[1], stat.S_IMODE(info.st_mode) | 0o700)
                os.utime(below[1], ns=(info.st_atime_ns, info.st_mtime_ns))
            finally:
                for fd in below:
                    os.close(fd)
        elif kind == stat.S_IFLNK:
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        elif kind == stat.S_IFREG:
            first = links.get((info.st_dev, info.st_ino)) if info.st_nlink > 1 else None
            if first is not None:
                os.link(first[1:], name, src_dir_fd=top, dst_dir_fd=target, follow_symlinks=False)
                continue
            _copy(name, source, target, info)
            links[info.st_dev, info.st_ino] = here
        elif kind == stat.S_IFIFO:
            os.mkfifo(name, 0o600, dir_fd=target)
        # a whiteout (a device file 0/0) has done its work above


def _copy(name: bytes, source: int, target: int, info: os.stat_result) -> None:
    reads = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
    writes = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=target)
    try:
        while os.sendfile(writes, reads, None, _PIECE):
            pass
        os.fchmod(writes, stat.S_IMODE(info.st_mode) & 0o777 & ~_WRITE | 0o400)
        os.utime(writes, ns=(info.st_atime_ns, info.st_mtime_ns))
    finally:
        os.close(reads)
        os.close(writes)


def _close_folders(top: int) -> None:
    for _path, _names, _files, fd in os.fwalk(".", topdown=False, follow_symlinks=False, dir_fd=top):
        os.fchmod(fd, stat.S_IMODE(os.fstat(fd).st_mode) & 0o1777 & ~_WRITE)

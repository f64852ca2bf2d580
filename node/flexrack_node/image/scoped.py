"""Paths below one folder, which links in it never lead out of: every step is opened from the one before, and a link is
followed as if the folder were the root.

The names come from an archive that somebody else made. As bytes, so that names in any encoding are what they are.
"""

import os
import shutil
import stat
from typing import List, Optional, Tuple

_MOST_LINKS = 40  # as Linux follows: ELOOP
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class LeavesRoot(ValueError):
    """A name with `..`, an empty one, or links without an end."""


def parts_of(name: bytes) -> List[bytes]:
    """`./a//b/` -> [a, b]; a leading slash means the root, too. Raises LeavesRoot for `..`, and for what no file can be
    called.
    """
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts or b"\0" in name:
        raise LeavesRoot(name)
    return parts


class ScopedFolder:
    """One folder as a root. Descriptors that are given away are the caller's to close."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, _FOLDER)

    def close(self) -> None:
        os.close(self.fd)

    def open_folder(self, parts: List[bytes], make: bool) -> int:
        """Descriptor of the folder; with `make` what is missing is made, and a file in the way is replaced. Raises
        LeavesRoot, OSError.
        """
        opened = [os.dup(self.fd)]
        links = 0
        todo = list(parts)
        try:
            while todo:
                name = todo.pop(0)
                if name in (b"", b"."):
                    continue
                if name == b"..":  # of a link's target; above the root there is the root
                    if len(opened) > 1:
                        os.close(opened.pop())
                    continue
                try:
                    opened.append(os.open(name, _FOLDER, dir_fd=opened[-1]))
                    continue
                except FileNotFoundError:
                    if not make:
                        raise
                except OSError as error:
                    target = link_of(name, opened[-1])
                    if target is None and not (make and error.errno == 20):  # ENOTDIR
                        raise
                    if target is not None:
                        links += 1
                        if links > _MOST_LINKS:
                            raise LeavesRoot(name) from None
                        if target.startswith(b"/"):
                            while len(opened) > 1:
                                os.close(opened.pop())
                        todo = target.split(b"/") + todo
                        continue
                    os.unlink(name, dir_fd=opened[-1])
                os.mkdir(name, 0o755, dir_fd=opened[-1])
                opened.append(os.open(name, _FOLDER, dir_fd=opened[-1]))
            return opened.pop()
        finally:
            for fd in opened:
                os.close(fd)

    def place_of(self, parts: List[bytes], make: bool = True) -> Tuple[int, bytes]:
        """Descriptor of the folder that it is in, and its name there; itself not followed."""
        if not parts:
            raise LeavesRoot(b"")
        return self.open_folder(parts[:-1], make), parts[-1]


def link_of(name: bytes, folder: int) -> Optional[bytes]:
    """What a symbolic link says; None for everything else."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def kind_of(name: bytes, folder: int) -> Optional[int]:
    """S_IFMT of what is there, links not followed; None where nothing is."""
    try:
        return stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def discard(name: bytes, folder: int) -> None:
    """Whatever is there, if anything is."""
    kind = kind_of(name, folder)
    if kind == stat.S_IFDIR:
        # Below our own folder, which nobody else may enter: the descriptor's path is its path.
        shutil.rmtree(os.path.join(os.fsencode(f"/proc/self/fd/{folder}"), name))
    elif kind is not None:
        os.unlink(name, dir_fd=folder)

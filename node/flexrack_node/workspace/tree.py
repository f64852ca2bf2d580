"""A folder of files that is changed without ever leaving it: each folder on the way is opened by name in the one above,
and a symbolic link on the way is an obstacle, not a way. Paths are `/`-separated text, relative, as the project has
them.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from flexrack_node.base.content_hash import sha256_of
from flexrack_node.base.errors import NodeError

DIGEST_DIGITS = 32  # of SHA-256, in hex
STAT_OF_LINK = {errno.ELOOP, errno.ENOTDIR}

# [kind, digest, executable]: kind is f (file), l (link; the digest is its target) or d (folder without files of ours).
Entry = Tuple[str, str, bool]


class Blocked(Exception):
    """Something of the node's own stands where the project has something else. `path` is where."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Tree:
    """Use as a context manager; keeps the folders on the way to the last path open."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.open: List[Tuple[str, int]] = []
        self.at: Optional[str] = None  # the folder that is open last

    def __enter__(self) -> "Tree":
        try:
            self.open = [("", os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))]
        except OSError as error:
            if error.errno in STAT_OF_LINK:
                raise NodeError(
                    "CONFLICT",
                    f"{self.root} is not a folder but something else, maybe a link; flexrack does not write through it",
                ) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for _name, fd in self.open:
            os.close(fd)
        self.open, self.at = [], None

    def parent(self, path: str, create: bool = False) -> Tuple[int, bytes]:
        """Descriptor of the folder that holds `path`, and the last name. FileNotFoundError or Blocked if it cannot be
        had.
        """
        folder, _, name = path.rpartition("/")
        return self.folder(folder, create), os.fsencode(name)

    def folder(self, path: str, create: bool = False) -> int:
        if path == self.at:  # one file after the other of a folder
            return self.open[-1][1]
        self.at = None
        parts = path.split("/") if path else []
        depth = 0
        while depth < len(parts) and depth + 1 < len(self.open) and self.open[depth + 1][0] == parts[depth]:
            depth += 1
        while len(self.open) > depth + 1:
            os.close(self.open.pop()[1])
        for part in parts[depth:]:
            self.open.append((part, self._enter(self.open[-1][1], part, "/".join(parts[: len(self.open)]), create)))
        self.at = path
        return self.open[-1][1]

    def _enter(self, fd: int, name: str, path: str, create: bool) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(os.fsencode(name), flags, dir_fd=fd)
        except FileNotFoundError:
            if not create:
                raise
        except OSError as error:
            if error.errno in STAT_OF_LINK:
                raise Blocked(path) from error
            raise
        os.mkdir(os.fsencode(name), 0o700, dir_fd=fd)
        return os.open(os.fsencode(name), flags, dir_fd=fd)

    def stat(self, path: str) -> Optional[os.stat_result]:
        """lstat, or None if there is nothing, or nothing that can be reached without following a link."""
        try:
            fd, name = self.parent(path)
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (FileNotFoundError, Blocked):
            return None

    def read(self, path: str, info: os.stat_result) -> Optional[Entry]:
        """What stands at a path that has been stat'ed; None for what a project cannot contain."""
        fd, name = self.parent(path)
        if stat.S_ISLNK(info.st_mode):
            return ("l", os.readlink(name, dir_fd=fd).decode(errors="surrogateescape"), False)
        if stat.S_ISDIR(info.st_mode):
            return ("d", "", False)
        if not stat.S_ISREG(info.st_mode):
            return None
        try:
            with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd), "rb") as stream:
                return ("f", digest_of(stream), bool(info.st_mode & 0o100))
        except PermissionError:
            return ("f", "", False)

    def remove(self, path: str) -> None:
        """Removes a file, a link, or a folder if nothing is in it. What is not there is fine."""
        try:
            fd, name = self.parent(path)
            try:
                os.unlink(name, dir_fd=fd)
            except IsADirectoryError:
                os.rmdir(name, dir_fd=fd)
        except (FileNotFoundError, Blocked):
            pass
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise

    def prune(self, paths: List[str]) -> None:
        """Removes the folders above removed paths, as far as they are empty."""
        folders = {folder for path in paths for folder in parents(path)}
        for folder in sorted(folders, key=lambda one: -one.count("/")):
            self.remove_folder(folder)

    def remove_folder(self, path: str) -> None:
        try:
            fd, name = self.parent(path)
            os.rmdir(name, dir_fd=fd)
        except (FileNotFoundError, NotADirectoryError, Blocked):
            pass
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise

    def obstacle(self, path: str, kind: str, going: Dict[str, Any]) -> Optional[str]:
        """What would be in the way of putting something at `path`, once all of `going` is removed. Changes nothing."""
        for folder in parents(path):
            info = self.stat(folder)
            if info is None:
                return None
            if not stat.S_ISDIR(info.st_mode):
                return None if folder in going else folder
        info = self.stat(path)
        if info is None or path in going or stat.S_ISDIR(info.st_mode) == (kind == "d"):
            return None
        return path if kind == "d" or not self._empties(path, going) else None

    def _empties(self, path: str, going: Dict[str, Any]) -> bool:
        """Whether a folder holds nothing but what is going to be removed."""
        names = os.listdir(self.folder(path))
        for name in names:
            below = f"{path}/{name}"
            info = self.stat(below)
            if info is None or below in going:
                continue
            if not stat.S_ISDIR(info.st_mode) or not self._empties(below, going):
                return False
        return True


def parents(path: str) -> Iterator[str]:
    """`a/b/c` -> `a`, `a/b`"""
    at = path.find("/")
    while at != -1:
        yield path[:at]
        at = path.find("/", at + 1)


def check_path(path: Any) -> str:
    """The path, if it is one that stays inside; the caller is not trusted with anything else."""
    parts = path.split("/") if isinstance(path, str) else []
    if not parts or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise NodeError("BUG", f"not a path inside a project: {path!r}")
    found: str = path
    return found


def digest_of(stream: Any) -> str:
    return sha256_of(stream)[:DIGEST_DIGITS]


def stamp(info: os.stat_result) -> List[int]:
    """What changes when a file does."""
    return [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]

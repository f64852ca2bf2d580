"""What of a workspace is saved: all that sync has put there, and what was made on the node, but for
data, outputs and what can be made again.

    left out                                     because
    what .gitignore files or the manifest name   excluded, unless sync has put it there
    .git, .flexrack, __pycache__, .venv, ...     made by programs
    a file of the node's own that is too large   large (`largest`, 16 MiB; one of the project's:
                                                 where it has grown to more than twice its size)
    a folder in which sync has put nothing, or   many: it is data
    own files beside the project's, of more than
    1000 files or 256 MiB

A stat walk finds it; nothing is read but .gitignore files.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.history.ignored import Rule, decision, rules_of
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.index import load_index
from flexrack_node.workspace.tree import parents

LARGEST = 16 << 20
MANY_FILES = 1000
MANY_BYTES = 256 << 20
_NEVER = {
    "__pycache__",
    ".git",
    ".flexrack",
    ".ipynb_checkpoints",
    ".venv",
    "node_modules",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
}
_MOST_PATTERNS = 1 << 20  # bytes of a .gitignore that are read


class LeftOut(NamedTuple):
    path: str
    why: str  # excluded, program, large, many
    files: int
    bytes: int


class Found(NamedTuple):
    """One file or link that is saved."""

    kind: str  # f, l
    size: int
    mtime_ns: int
    mode: int


class Choice:
    """`files`: by path. `left`: what is not saved, folders as one. `fingerprint`: another one where anything saved may
    have changed.
    """

    def __init__(self, place: WorkspaceFolder, exclude: Sequence[str] = (), largest: int = LARGEST) -> None:
        if place.code.is_symlink() or not place.code.is_dir():
            raise NodeError(
                "NOT_FOUND", f"the workspace {place.project} has no code on this node", "flexrack workspace up"
            )
        self.code, self.largest = place.code, largest
        self.synced: Dict[str, int] = {}  # bytes that each had
        for path, entry in load_index(place)["entries"].items():
            self.synced[path] = entry[3][0] if entry[3] and entry[3][0] > 0 else 0
        self.folders: Set[str] = {folder for path in self.synced for folder in parents(path)}
        self.files: Dict[str, Found] = {}
        self.left: List[LeftOut] = []
        self._sha = hashlib.sha256()
        self.folders_saved = 0
        self._walk("", [("", rules_of(list(exclude)))], [], False)

    @property
    def fingerprint(self) -> str:
        return self._sha.hexdigest()

    @property
    def bytes(self) -> int:
        return sum(one.size for one in self.files.values())

    @property
    def is_empty(self) -> bool:
        return not self.files and not self.folders_saved

    def is_saved(self, path: str) -> bool:
        """Whether what is at a path is saved; also for one that is not there."""
        return not any(path == one.path or path.startswith(f"{one.path}/") for one in self.left)

    def _walk(
        self, at: str, strong: List[Tuple[str, List[Rule]]], weak: List[Tuple[str, List[Rule]]], inside: bool
    ) -> None:
        """`inside`: of a folder that is excluded itself, and in which sync has put something all the same."""
        try:
            entries = sorted(os.scandir(self.code / at if at else self.code), key=lambda one: one.name)
        except OSError:  # gone meanwhile, or not to be read: restic says so of what it cannot read
            return
        if any(one.name == ".gitignore" and one.is_file(follow_symlinks=False) for one in entries):
            weak = [*weak, (at, rules_of(patterns_in(self.code / at / ".gitignore")))]
        own: List[Tuple[str, os.stat_result]] = []
        for entry in entries:
            path = f"{at}/{entry.name}" if at else entry.name
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(info.st_mode):
                self._folder(path, entry.name, info, strong, weak, inside)
            elif path in self.synced:
                if stat.S_ISREG(info.st_mode) and info.st_size > max(self.largest, 2 * self.synced[path]):
                    self.left.append(LeftOut(path, "large", 1, info.st_size))
                else:
                    self._take(path, info)
            elif inside or entry.name in _NEVER or is_excluded(path, False, strong, weak):
                self.left.append(LeftOut(path, "excluded", 1, info.st_size))
            elif stat.S_ISREG(info.st_mode) and info.st_size > self.largest:
                self.left.append(LeftOut(path, "large", 1, info.st_size))
            else:
                own.append((path, info))
        if len(own) > MANY_FILES or sum(info.st_size for _path, info in own) > MANY_BYTES:
            self.left += [LeftOut(path, "many", 1, info.st_size) for path, info in own]
        else:
            for path, info in own:
                self._take(path, info)

    def _folder(
        self,
        path: str,
        name: str,
        info: os.stat_result,
        strong: List[Tuple[str, List[Rule]]],
        weak: List[Tuple[str, List[Rule]]],
        inside: bool,
    ) -> None:
        excluded = inside or name in _NEVER or is_excluded(path, True, strong, weak)
        if path not in self.folders and path not in self.synced:
            if name in _NEVER:
                self.left.append(LeftOut(path, "program", 0, 0))
                return
            if excluded:
                self.left.append(LeftOut(path, "excluded", 0, 0))
                return
            files, size = counted(self.code / path)
            if files > MANY_FILES or size > MANY_BYTES:
                self.left.append(LeftOut(path, "many", files, size))
                return
        self._sha.update(f"{path}\0d\0{info.st_mode}\n".encode(errors="surrogateescape"))
        self.folders_saved += 1
        self._walk(path, strong, weak, excluded)

    def _take(self, path: str, info: os.stat_result) -> None:
        kind = "f" if stat.S_ISREG(info.st_mode) else "l" if stat.S_ISLNK(info.st_mode) else ""
        if not kind:  # a pipe, a socket, a device: nothing in it lasts
            return
        self.files[path] = Found(kind, info.st_size, info.st_mtime_ns, stat.S_IMODE(info.st_mode))
        self._sha.update(
            (
                f"{path}\0{kind}\0{info.st_mode}\0{info.st_size}\0"
                f"{info.st_mtime_ns}\0{info.st_ctime_ns}\0{info.st_ino}\n"
            ).encode(errors="surrogateescape"),
        )


def is_excluded(
    path: str, is_folder: bool, strong: List[Tuple[str, List[Rule]]], weak: List[Tuple[str, List[Rule]]]
) -> bool:
    """The manifest's patterns come first, then the nearest .gitignore that says something."""
    for base, rules in [*strong, *reversed(weak)]:
        said: Optional[bool] = decision(rules, path[len(base) + 1 :] if base else path, is_folder)
        if said is not None:
            return said
    return False


def patterns_in(path: Path) -> List[str]:
    try:
        with open(
            os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), errors="surrogateescape"
        ) as stream:
            return stream.read(_MOST_PATTERNS).splitlines()
    except OSError:
        return []


def counted(folder: Path) -> Tuple[int, int]:
    """Files below a folder and their bytes, as far as is needed to know that there are many."""
    files = size = 0
    pending = [str(folder)]
    while pending and files <= MANY_FILES and size <= MANY_BYTES:
        try:
            for entry in os.scandir(pending.pop()):
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return files, size


def exclusions(code: Path, left: Sequence[LeftOut]) -> bytes:
    """The lines of restic's --exclude-file, which takes filepath.Match of Go, expands `$`, cuts off
    spaces, and has no word for a line end: a class of control characters is one.
    """
    lines = []
    for one in left:
        text = os.fsencode(code / one.path)
        out = b""
        for at in range(len(text)):
            byte = text[at : at + 1]
            if byte in b"*?[]\\":
                out += b"\\" + byte
            elif byte == b"$":
                out += b"$$"
            elif byte < b" ":
                out += b"[\x01-\x1f]"
            elif byte == b" " and at == len(text) - 1:
                out += b"[ ]"
            else:
                out += byte
        lines.append(out + b"\n")
    return b"".join(lines)

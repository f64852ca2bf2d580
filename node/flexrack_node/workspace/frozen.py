"""A run's own view of its code: what the workspace has when the run starts, in RUN/code. A sync, or an edit on the
node, changes the workspace only.

    a file that sync put there, or one of at most LARGE bytes     cloned (FICLONE); elsewhere copied, and beyond LARGE bytes hard-linked
    a larger file of the node's own                               a link to the workspace's: data, and not code
    a folder in which sync has put nothing                        the same: what runs download once stays for the next one;
                                                                  not there where the manifest's outputs name it
    a link                                                        the same link; one that leads out of the folder becomes absolute

Sync replaces files by rename, so a hard link keeps what it had; it is only taken where a copy would cost. Why:
docs/adr/0045.
"""

import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Set, Tuple, cast

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.stored import write
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.index import load_index
from flexrack_node.workspace.sync import RACY_NS
from flexrack_node.workspace.tree import digest_of, parents, stamp

if TYPE_CHECKING:
    from flexrack_node.schema.order import RunOrder
    from flexrack_node.schema.record import CodeTree
    from flexrack_node.schema.runfiles import KeptRunOrder
    from flexrack_node.workspace.index import Index

FICLONE = 0x40049409  # linux/fs.h: _IOW(0x94, 9, int)
LARGE = 8 << 20
_NO_CLONE = {errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS, errno.EPERM}
_SKIPPED = {"__pycache__"}  # made anew beside the sources that it is of


def frozen(spec: "RunOrder", path: Path, channel: Channel) -> "KeptRunOrder":
    """The spec as it is kept: with `code` in the order, its ranks run in a view of the workspace below `path`. Raises
    NOT_FOUND, LOCKED.
    """
    kept = cast("KeptRunOrder", {**spec, "root": str(channel.root)})
    order = spec.get("code")
    if not order:
        return kept
    place = WorkspaceFolder(channel.root, order["workspace"])
    if not place.code.is_dir():
        raise NodeError("NOT_FOUND", f"the workspace {place.project} has no code on this node", "flexrack workspace up")
    target = path / "code"
    with FileLock(place.lock, channel, f"workspace {place.project}", owner=spec.get("owner")):
        view = View(place.code, target, load_index(place), spec.get("outputs", []))
        view.make()
    write("run.tree", path / "tree.json", view.tree(), durable=False)
    kept["cwd"] = str(target)
    kept["code"] = {"workspace": place.project, "digest": view.digest(), "files": len(view.lines), "bytes": view.bytes}
    imports = editable_paths(Path(spec["python"]), place.code, target)
    if imports:
        kept["code"]["imports"] = imports
    return kept


class View:
    """Makes `target` from `source`. `lines`: one for each file and link, of which the digest is made."""

    def __init__(self, source: Path, target: Path, index: "Index", outputs: Sequence[str] = ()) -> None:
        self.source, self.target, self.entries = source, target, index["entries"]
        self.outputs = [PurePosixPath(one).parts for one in outputs]
        self.certain = index["written_ns"] - RACY_NS
        self.synced: Set[str] = {folder for path in self.entries for folder in parents(path)}
        self.synced |= {path for path, entry in self.entries.items() if entry[0] == "d"}
        self.can_clone = True
        self.lines: List[str] = []
        self.bytes = 0

    def digest(self) -> str:
        """SHA-256 over `path`, kind and mode, and SHA-256 (32 digits) of every file, in the order of paths: two runs
        with the same one have run the same.
        """
        return hashlib.sha256("".join(sorted(self.lines)).encode(errors="surrogateescape")).hexdigest()

    def tree(self) -> "CodeTree":
        """What the digest is made of."""
        return {"entries": [line[:-1].split("\0") for line in sorted(self.lines)]}

    def make(self) -> None:
        if self.target.exists():  # a start that was cut short
            shutil.rmtree(self.target)
        self._folder("")

    def _folder(self, at: str) -> None:
        own, there = self.target / at, self.source / at
        own.mkdir(mode=0o700)
        for entry in sorted(os.scandir(there), key=lambda one: one.name):
            path = f"{at}/{entry.name}" if at else entry.name
            if entry.is_symlink():
                self._link(path, os.readlink(entry.path))
            elif entry.is_dir(follow_symlinks=False):
                if path in self.synced:
                    self._folder(path)
                elif entry.name not in _SKIPPED and not self._is_for_outputs(path):
                    os.symlink(entry.path, self.target / path)
            elif entry.is_file(follow_symlinks=False):
                self._file(path, entry.stat(follow_symlinks=False))

    def _is_for_outputs(self, path: str) -> bool:
        """Whether the manifest's outputs name something in this folder: then each run makes its own."""
        parts = path.split("/")
        return any(
            pattern[0].strip("*") and all(fnmatchcase(one, wanted) for one, wanted in zip(parts, pattern))
            for pattern in self.outputs
            if pattern
        )

    def _link(self, path: str, text: str) -> None:
        inside = os.path.normpath(os.path.join(os.path.dirname(path), text))
        leaves = not os.path.isabs(text) and (inside == ".." or inside.startswith("../"))
        os.symlink(os.path.normpath(self.source / os.path.dirname(path) / text) if leaves else text, self.target / path)
        self.lines.append(f"{path}\0link\0{text}\n")

    def _file(self, path: str, info: os.stat_result) -> None:
        known = self.entries.get(path)
        if known is None and info.st_size > LARGE:
            os.symlink(self.source / path, self.target / path)
            return
        digest = self._copy(path, info, known)
        self.lines.append(f"{path}\0{'executable' if info.st_mode & 0o100 else 'file'}\0{digest}\n")
        self.bytes += info.st_size

    def _copy(self, path: str, info: os.stat_result, known: Any) -> str:
        """Returns the digest of what was taken: the index's, where the file is as sync has left it."""
        own = self.target / path
        with open(os.open(self.source / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
            now = stamp(os.fstat(stream.fileno()))
            is_known = known is not None and known[0] == "f" and now == known[3] and now[2] < self.certain
            with open(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
                if self._clone(stream, out):
                    pass
                elif info.st_size > LARGE:
                    own.unlink()
                    os.link(self.source / path, own, follow_symlinks=False)
                    return str(known[1]) if is_known else digest_of(stream)
                else:
                    shutil.copyfileobj(stream, out, 1 << 20)
            os.chmod(own, stat.S_IMODE(info.st_mode) | 0o200)
            os.utime(own, ns=(info.st_atime_ns, info.st_mtime_ns))
            if is_known:
                return str(known[1])
        with open(own, "rb") as taken:
            return digest_of(taken)

    def _clone(self, stream: Any, out: Any) -> bool:
        if not self.can_clone:
            return False
        try:
            fcntl.ioctl(out.fileno(), FICLONE, stream.fileno())
            return True
        except OSError as error:
            if error.errno not in _NO_CLONE:
                raise
            self.can_clone = False
            return False


def editable_paths(python: Path, code: Path, target: Path) -> List[str]:
    """Folders of the view from which a project that is installed editable is imported: what its environment says of the
    workspace's (PEP 660: .pth files, and setuptools' finders).
    """
    found: Dict[str, None] = {}
    wanted = re.compile(re.escape(str(code)) + r"[^'\"\n]*")
    for site in sorted(python.parent.parent.glob("lib*/python3*/site-packages")):
        for file in sorted([*site.glob("*.pth"), *site.glob("__editable__*finder.py")]):
            for text in wanted.findall(file.read_text(errors="replace")):
                one = Path(text) if file.suffix == ".pth" else Path(text).parent
                inside = _below(code, one)
                if inside is not None:
                    found[str(target / inside)] = None
    return list(found)


def _below(code: Path, path: Path) -> Optional[Path]:
    try:
        return path.relative_to(code)
    except ValueError:
        return None


def run_of(cwd: str, root: Path) -> Optional[Tuple[str, Path]]:
    """Which run's view a working directory is in, and that run's folder."""
    inside = _below(root / "runs", Path(cwd))
    if inside is None or len(inside.parts) < 2 or inside.parts[1] != "code":
        return None
    return inside.parts[0], root / "runs" / inside.parts[0]

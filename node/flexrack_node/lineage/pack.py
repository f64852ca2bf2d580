"""The contents of a run's code in one file: a tar of what tree.json names, deflated. The same tree gives the same bytes
on every node: paths in order, no times, no owners.

What is in it is read from the run's view, and held against the tree: a file that has changed since, or is larger than
MOST_OF_A_FILE, is left out and named. Of a tree of more than MOST bytes nothing is packed.
"""

import hashlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, List, Optional, Tuple, cast

from flexrack_node.base.content_hash import file_sha256
from flexrack_node.workspace.tree import DIGEST_DIGITS

if TYPE_CHECKING:
    import tarfile

    from flexrack_node.schema.record import CodePack, CodeTree, LeftOut

MOST_OF_A_FILE = 8 << 20
MOST = 64 << 20


def pack(view: Path, tree: "CodeTree", target: Path) -> "Tuple[Optional[CodePack], List[LeftOut]]":
    """Writes `target`. Returns what it is, and what is not in it. Raises OSError where it cannot be written."""
    import gzip  # only now: with tarfile it would slow every start
    import tarfile

    entries = sorted(tree["entries"])
    left_out: List[LeftOut] = []
    total = sum(_size(view / path) for path, kind, _ in entries if kind != "link")
    if total > MOST:
        return None, [[".", f"the code has {total} bytes; at most {MOST} are kept"]]
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    files = 0
    try:
        with (
            open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as out,
            gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=1, mtime=0) as deflated,
            tarfile.open(fileobj=cast(BinaryIO, deflated), mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path, kind, digest in entries:
                why = _add(tar, view, path, kind, digest)
                if why:
                    left_out.append([path, why])
                else:
                    files += 1
        sha, size = file_sha256(draft), draft.stat().st_size
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return {"sha256": sha, "bytes": size, "files": files}, left_out


def _add(tar: "tarfile.TarFile", view: Path, path: str, kind: str, digest: str) -> Optional[str]:
    """Why it is not in it; None where it is."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    from tarfile import SYMTYPE, TarInfo

    info = TarInfo(path)
    info.mode = 0o755 if kind == "executable" else 0o644
    if kind == "link":
        info.type, info.linkname = SYMTYPE, digest
        tar.addfile(info)
        return None
    try:
        with open(os.open(view / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
            content = stream.read(MOST_OF_A_FILE + 1)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if len(content) > MOST_OF_A_FILE:
        return f"it has more than {MOST_OF_A_FILE} bytes"
    if hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS] != digest:
        return "it has changed since the run began"
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))
    return None


def _size(path: Path) -> int:
    try:
        return min(path.lstat().st_size, MOST_OF_A_FILE)
    except OSError:
        return 0

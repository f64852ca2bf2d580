"""What flexrack has put on this node: installed.jsonl below its root, so that uninstalling takes away exactly that."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence

from flexrack_node.base import shared_lock, stored

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import InstalledLine


def record(root: Path, path: Path, kind: str) -> None:
    """Appends one line (once a path). Call it before the thing is made: a line too many does no harm, one too few does."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    shown = relative(root, path)
    descriptor = os.open(root / "installed.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        shared_lock.wait(file.fileno())
        text = file.read()
        if any(entry["path"] == shown for entry in parse(text, root / "installed.jsonl")):
            return
        line: InstalledLine = {"path": shown, "kind": kind, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        # A line torn by a full disk must not swallow this one.
        file.write((b"" if text in (b"",) or text.endswith(b"\n") else b"\n") + stored.line("installed.entry", line))


def listing(root: Path) -> "List[InstalledLine]":
    """Every entry that still exists, oldest first, each path once: {path, kind, at}."""
    try:
        text = (root / "installed.jsonl").read_bytes()
    except FileNotFoundError:
        return []
    found: Dict[str, InstalledLine] = {}
    for entry in parse(text, root / "installed.jsonl"):
        found.setdefault(entry["path"], entry)
    return [entry for entry in found.values() if os.path.lexists(root / entry["path"])]


def remove(root: Path, entry: Mapping[str, Any]) -> bool:
    """Takes away one entry if it lies below root (symlinks on the way are not followed out of it). True if it is gone."""

    import shutil

    path = Path(os.path.normpath(root / entry["path"]))
    inside = Path(os.path.realpath(path.parent)) / path.name
    if Path(os.path.realpath(root)) not in inside.parents:
        return False
    if inside.is_symlink() or inside.is_file():
        inside.unlink()
    else:
        if entry["kind"] in ("data", "images"):
            make_writable(inside)
        shutil.rmtree(inside, ignore_errors=True)
    return not os.path.lexists(inside)


def make_writable(folder: Path) -> None:
    """All folders of a tree of ours that is kept read-only, so that it can be removed."""
    for path, names, _files in os.walk(folder):
        os.chmod(path, 0o700)
        for name in names:
            inside = os.path.join(path, name)
            if not os.path.islink(inside):
                os.chmod(inside, 0o700)


def forget_all(root: Path, spare: Sequence[Path] = ()) -> bool:
    """After everything is removed: the record itself unless something on it is still there, folders that are empty, and
    root. True if root is gone. Nothing is touched in `spare`.
    """
    if not listing(root):
        (root / "installed.jsonl").unlink(missing_ok=True)
    for folder in sorted(
        (path for path in root.rglob("*") if path.is_dir() and not path.is_symlink()), key=lambda path: -len(path.parts)
    ):
        if not any(one == folder or one in folder.parents for one in spare):
            remove_empty(folder)
    return remove_empty(root)


def relative(root: Path, path: Path) -> str:
    """Relative to root where it is below it, so that the record survives a moved home."""
    absolute = Path(os.path.abspath(root / path))
    try:
        return str(absolute.relative_to(os.path.abspath(root)))
    except ValueError:
        return str(absolute)


def parse(text: bytes, path: Path) -> "List[InstalledLine]":
    """The entries of the record; torn or strange lines are passed over."""
    entries = []
    for line in text.splitlines():
        entry = stored.read_line("installed.entry", line, path)
        if entry and isinstance(entry.get("path"), str) and isinstance(entry.get("kind"), str):
            entries.append(entry)
    return entries


def remove_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return not folder.exists()
    return True

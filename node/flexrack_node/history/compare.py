"""What has changed in a workspace since a snapshot; of text, the lines."""

import difflib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional

from flexrack_node.history.choice import Choice, Found
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.listing import escaped, nanoseconds_of
from flexrack_node.history.restic import Restic

if TYPE_CHECKING:
    from flexrack_node.schema.history import HistoryChange

_READ = 200  # files whose contents are compared, and
_READ_BYTES = 64 << 20  # bytes of them; beyond, another time or size is a change
_TEXT = 256 << 10  # bytes of a file whose lines are shown
_ALL_TEXT = 1 << 20


def below(path: str, wanted: Optional[str]) -> bool:
    return wanted is None or path == wanted or path.startswith(f"{wanted}/")


def contents_of(restic: Restic, snapshot: str, wanted: Optional[str]) -> Dict[str, Found]:
    """Files and links of a snapshot. Names that are no UTF-8 come with U+FFFD in place of what is none."""
    found: Dict[str, Found] = {}
    words = ["ls", snapshot, *([f"/{wanted}"] if wanted else [])]
    for one in restic.run("--no-lock", *words):
        kind = {"file": "f", "symlink": "l"}.get(str(one.get("type")))
        path = str(one.get("path", ""))[1:]
        if one.get("struct_type") == "node" and kind and below(path, wanted):
            found[path] = Found(
                kind, int(one.get("size") or 0), nanoseconds_of(one["mtime"]), int(one.get("mode") or 0) & 0o777
            )
    return found


def differences(
    place: HistoryFolder, restic: Restic, snapshot: str, choice: Choice, wanted: Optional[str], text: bool
) -> "List[HistoryChange]":
    """Against what is saved of the workspace now. `text`: with the lines of files that have some."""
    then = contents_of(restic, snapshot, wanted)
    now = {told(path): (path, one) for path, one in choice.files.items() if below(told(path), wanted)}
    changes: List[HistoryChange] = []
    unsure: List[str] = []
    for path in sorted({*then, *now}):
        before, after = then.get(path), now[path][1] if path in now else None
        if before is None or after is None:
            if after is None and os.path.lexists(place.workspace.code / path):
                continue  # it is there, and is not saved any more
            present = after or before
            changes.append(
                {
                    "path": path,
                    "what": "made" if before is None else "removed",
                    "bytes": present.size if present else 0,
                    "lines": None,
                }
            )
        elif before.kind != after.kind or (before.kind == "f" and before.size != after.size):
            changes.append({"path": path, "what": "changed", "bytes": after.size, "lines": None})
        elif before.kind == "f" and before.mode != after.mode & 0o777:
            changes.append({"path": path, "what": "mode", "bytes": after.size, "lines": None})
            unsure.append(path)
        elif before.mtime_ns != after.mtime_ns:
            changes.append({"path": path, "what": "changed", "bytes": after.size, "lines": None})
            unsure.append(path)
    return read_both(
        place, restic, snapshot, changes, unsure, then, {path: name for path, (name, _one) in now.items()}, text
    )


def told(path: str) -> str:
    return path.encode(errors="surrogateescape").decode(errors="replace")


def read_both(
    place: HistoryFolder,
    restic: Restic,
    snapshot: str,
    changes: "List[HistoryChange]",
    unsure: List[str],
    then: Mapping[str, Found],
    names: Mapping[str, str],
    text: bool,
) -> "List[HistoryChange]":
    """Says of those that may be the same whether they are, and puts the lines in."""
    wanted = [
        one["path"]
        for one in changes
        if one["path"] in then and (one["path"] in unsure or (text and then[one["path"]].size <= _TEXT))
    ]
    total, read = 0, []
    for path in wanted[:_READ]:
        total += then[path].size
        if total > _READ_BYTES:
            break
        read.append(path)
    if not read and not text:
        return changes
    folder = Path(tempfile.mkdtemp(prefix=".compare-", dir=place.path))
    shown = 0
    kept: List[HistoryChange] = []
    try:
        if read:
            restic.run(
                "--no-lock",
                "restore",
                snapshot,
                "--target",
                str(folder),
                *[word for path in read for word in ("--include", escaped(f"/{path}"))],
            )
        for one in changes:
            path = one["path"]
            old = content(folder / path) if path in read else None
            new = (
                content(place.workspace.code / names[path])
                if path in names and (path in unsure or one["bytes"] <= _TEXT)
                else None
            )
            if path in unsure and path in read and old is not None and old == new:
                if one["what"] != "mode":
                    continue
            elif text and shown < _ALL_TEXT and (path in read or one["what"] == "made"):
                one["lines"] = lines_of(path, old if path in then else b"", new if path in names else b"")
                shown += len(one["lines"] or "")
            kept.append(one)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return kept


def content(path: Path) -> Optional[bytes]:
    """Of a file, or where a link leads; None for what is neither, or is not there."""
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            return b"link to " + os.fsencode(os.readlink(path))
        if not stat.S_ISREG(info.st_mode):
            return None
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            return stream.read()
    except OSError:
        return None


def lines_of(path: str, old: Optional[bytes], new: Optional[bytes]) -> Optional[str]:
    """As `diff -u`; None where one of them is no text."""
    if old is None or new is None or b"\0" in old or b"\0" in new or len(old) > _TEXT or len(new) > _TEXT:
        return None
    try:
        before, after = old.decode().splitlines(keepends=True), new.decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        return None
    out = []
    for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
        out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)

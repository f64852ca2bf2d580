"""What sync has put into a workspace, kept so that a small change among many files costs little: all of it now and
then, and a line a change since.

    index.json    {schema, revision, tree, written_ns, entries: {path: [kind, digest, executable, stamp or null]}}
    index.log     lines of {after, revision, tree, written_ns, entries: the same, null for a path that is no longer there}

A line counts if it follows the revision reached so far: one cut short, or older than index.json, says nothing.
"""

import os
import time
from typing import TYPE_CHECKING, Collection, Dict, Optional

from flexrack_node.base.stored import line, read, read_line, write
from flexrack_node.workspace.folder import WorkspaceFolder

if TYPE_CHECKING:
    from typing import TypedDict

    from flexrack_node.schema.nodefiles import IndexEntry, WorkspaceChange, WorkspaceIndex

    class Index(TypedDict):
        """What index.json has, and how much of the log counts, in bytes."""

        revision: str
        tree: Optional[str]
        written_ns: int
        entries: "Dict[str, IndexEntry]"
        log: int


LOG_BYTES = 128 << 10  # beyond, all of it is written again
MANY = 1000  # paths of one change: all of it at once


def load_index(place: WorkspaceFolder) -> "Index":
    """Nothing there: revision ""."""
    nothing: WorkspaceIndex = {"revision": "", "tree": None, "written_ns": 0, "entries": {}}
    index: Index = {**(read("workspace.index", place.index) or nothing), "log": 0}
    try:
        log = place.log.read_bytes()
    except FileNotFoundError:
        return index
    end = 0
    for raw in log.splitlines(keepends=True):
        end += len(raw)
        change = read_line("workspace.change", raw, place.log) if raw.endswith(b"\n") else None
        if change is not None and change["after"] == index["revision"]:
            follow(index, change)
            index["log"] = end
    return index


def follow(index: "Index", change: "WorkspaceChange") -> None:
    entries = index["entries"]
    for path, entry in change["entries"].items():
        if entry is None:
            entries.pop(path, None)
        else:
            entries[path] = entry
    index.update({"revision": change["revision"], "tree": change["tree"], "written_ns": change["written_ns"]})


def advance(
    place: WorkspaceFolder, index: "Index", paths: Collection[str], tree: Optional[str], durable: bool = True
) -> None:
    """Writes down what is now in index["entries"] for `paths`, as a new revision. Under the lock only.

    durable: it is on the disk when this returns, also if the machine stops then; otherwise the revision before may come
    back.
    """
    keep(place, index, paths, os.urandom(8).hex(), tree, durable)


def renew(place: WorkspaceFolder, index: "Index", paths: Collection[str]) -> None:
    """The same revision with other stamps. Under the lock only."""
    keep(place, index, paths, index["revision"], index["tree"], False)


def keep(
    place: WorkspaceFolder, index: "Index", paths: Collection[str], revision: str, tree: Optional[str], durable: bool
) -> None:
    after, entries = index["revision"], index["entries"]
    index.update({"revision": revision, "tree": tree, "written_ns": time.time_ns()})
    if after == "" or len(paths) > MANY or index["log"] > LOG_BYTES:
        write(
            "workspace.index",
            place.index,
            {
                "revision": revision,
                "tree": tree,
                "written_ns": index["written_ns"],
                "entries": dict(sorted(entries.items())),
            },
        )
        place.log.unlink(missing_ok=True)  # if this is not reached, its lines do not follow the new revision
        index["log"] = 0
        return
    changes: WorkspaceChange = {
        "after": after,
        "revision": revision,
        "tree": tree,
        "written_ns": index["written_ns"],
        "entries": {path: entries.get(path) for path in paths},
    }
    text = line("workspace.change", changes)
    fd = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as stream:
        stream.truncate(index["log"])  # a line that was cut short would swallow this one
        stream.seek(index["log"])
        stream.write(text)
        stream.flush()
        if durable:
            os.fsync(stream.fileno())
    index["log"] += len(text)

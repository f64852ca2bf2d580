"""What a workspace has that its project does not: files that were edited, removed or made on this node since the last
sync; and their contents, for who asks.

Nothing is changed here. What the caller makes of it is its own: src/lib/workspace/pull.ts.
"""

import base64
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.index import load_index
from flexrack_node.workspace.sync import edited_entries, refresh, take_inventory
from flexrack_node.workspace.tree import Tree, check_path, digest_of, parents

if TYPE_CHECKING:
    from flexrack_node.schema.sync import ChangesQuestion, Contents, ContentsSent, OwnFile, OwnFolder, WorkspaceChanges

MANY = 1000  # files of a folder in which sync put nothing: beyond, it is data, and told of as one
CHUNK = 256 << 10
_NEVER = {"__pycache__", ".git", ".flexrack"}


def changes(request: "ChangesQuestion", channel: Channel) -> "WorkspaceChanges":
    """{project, paths?} -> {path, edited: [[path, kind, digest, executable, last digest]], own: [[path, bytes,
    executable]], many: [[folder, files]]}.

    `edited`: kind '' is what was removed here. `own`: files that sync has not put there; below `paths` all of them,
    elsewhere not those of folders with more than MANY, which are in `many`. NOT_FOUND without a workspace.
    """
    place = WorkspaceFolder(channel.root, request["project"])
    if not place.code.is_dir():
        raise NodeError("NOT_FOUND", f"there is no workspace {place.project} on this node", "flexrack workspace list")
    index = load_index(place)
    inventory, _changed, touched = take_inventory(place, index, whole=False)
    if touched:
        refresh(place, index, touched, channel)
    last = {path: digest for path, _kind, digest, _executable in edited_entries(index, inventory)}
    edited = [[*line, last[line[0]]] for line in inventory if line[0] in last]
    edited += [
        [*line, index["entries"][line[0]][1]]
        for line in inventory
        if line[1] == "" and index["entries"][line[0]][3] is not None
    ]
    wanted = [check_path(path.rstrip("/")) for path in request.get("paths") or []]
    found = Walk(place.code, set(index["entries"]), wanted)
    found.folder("")
    return {"path": str(place.code), "edited": sorted(edited), "own": sorted(found.own), "many": sorted(found.many)}


class Walk:
    """Looks for files that sync did not put there."""

    def __init__(self, root: Path, known: "set[str]", wanted: List[str]) -> None:
        self.root, self.known, self.wanted = root, known, wanted
        self.synced = {folder for path in known for folder in parents(path)}
        self.own: List[OwnFile] = []
        self.many: List[OwnFolder] = []

    def folder(self, at: str) -> None:
        for entry in os.scandir(self.root / at):
            path = f"{at}/{entry.name}" if at else entry.name
            if entry.name in _NEVER or path in self.known or not is_text(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                self._subfolder(path)
            elif entry.is_file(follow_symlinks=False):
                info = entry.stat(follow_symlinks=False)
                self.own.append([path, info.st_size, bool(info.st_mode & 0o100)])

    def _subfolder(self, path: str) -> None:
        is_named = any(path == one or path.startswith(f"{one}/") or one.startswith(f"{path}/") for one in self.wanted)
        if path in self.synced or is_named:
            self.folder(path)
            return
        count = sum(len(files) for _path, _folders, files in self._some(path))
        if count > MANY:
            self.many.append([path, count])
        else:
            self.folder(path)

    def _some(self, path: str) -> "Iterator[Tuple[str, List[str], List[str]]]":
        """Walks no further than is needed to know that there are many."""
        count = 0
        for one in os.walk(self.root / path):
            count += len(one[2])
            yield one
            if count > MANY:
                return


def contents(request: "Contents", channel: Channel) -> "ContentsSent":
    """{project, paths} -> an event {path, data: base64} for each piece of each file, in order, then {files: {path:
    digest or null}}: null is what is not a file any more.
    """
    place = WorkspaceFolder(channel.root, request["project"])
    sent: Dict[str, Optional[str]] = {}
    with Tree(place.code) as tree:
        for path in request["paths"]:
            sent[path] = send(tree, check_path(path), channel)
    return {"files": sent}


def send(tree: Tree, path: str, channel: Channel) -> Optional[str]:
    """The digest of what went out, which is of one moment if the caller compares: a file that is written meanwhile
    gives another one.
    """
    info = tree.stat(path)
    if info is None or not stat.S_ISREG(info.st_mode):
        return None
    fd, name = tree.parent(path)
    with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd), "rb") as stream:
        for data in iter(lambda: stream.read(CHUNK), b""):
            channel.event("content", path=path, data=base64.b64encode(data).decode())
        stream.seek(0)
        return digest_of(stream)


def is_text(path: str) -> bool:
    """Names that are not UTF-8 cannot be told of in a line of JSON."""
    try:
        path.encode()
        return True
    except UnicodeEncodeError:
        return False

"""Makes a workspace's code folder the same as a project. The caller decides what goes where; this side sees to it that
nothing outside the folder is touched, that nothing half-received is ever seen, and that a sync cut short is repaired by
the next.

Only what sync has put there (the index) is ever replaced unasked or removed; what was made or edited on the node stays.
"""

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.stored import read, write
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.index import advance, load_index, renew
from flexrack_node.workspace.staging import read_all, receive, unpack, verify_staged
from flexrack_node.workspace.tree import Blocked, Entry, Tree, check_path, stamp

if TYPE_CHECKING:
    from flexrack_node.schema.sync import Applied, Compared, LastSync, SyncOrder, SyncQuestion
    from flexrack_node.workspace.index import Index

# a file changed this shortly before its stamp was taken may change again without the stamp showing it
RACY_NS = 20_000_000
GONE: Entry = ("", "", False)  # in an inventory: sync had put something there, and it is not there any more


def compare(request: "SyncQuestion", channel: Channel) -> "Compared":
    """{project, tree, bases?} -> {same, revision, path} and, where not the same, {inventory: [[path, kind, digest,
    executable]], staged: [digest]}.

    `tree` is the hash of the project's content. Changes on the node since the last sync are noticed: they show in the
    inventory. `edited`: what sync put there and somebody has edited since, as sync had left it. `bases`: hashes of
    contents that the caller knows. If the last sync was to one of them, that is told as `base`, and the inventory is
    only what differs from it.
    """
    place = WorkspaceFolder(channel.root, request["project"])
    index = load_index(place)
    last: Any = read("workspace.sync", place.sync)
    answer: Compared = {"same": False, "revision": index["revision"], "path": str(place.code), "last": last}
    if not place.code.is_dir():
        return {**answer, "inventory": [], "staged": []}
    base = index["tree"] if index["tree"] in (request.get("bases") or []) else None
    inventory, changed, touched = take_inventory(place, index, whole=base is None)
    if touched:
        refresh(place, index, touched, channel)
    if not changed and index["tree"] == request.get("tree"):
        return {**answer, "same": True}
    return {
        **answer,
        "base": base,
        "inventory": inventory,
        "staged": verify_staged(place),
        "edited": edited_entries(index, inventory),
    }


def apply(request: "SyncOrder", channel: Channel) -> "Applied":
    """{project, tree, revision, put: [[path, kind, digest, executable]], remove: [path], forget: [path], send:
    [[digest, size]], packed, owner, source} and the contents of `send` one after the other as the body (deflated if
    `packed`) -> {revision, path}.

    CONFLICT with details.retry where the folder has changed since `compare`; with details.path where something of the
    node's own is in the way. NODE_UNFIT where the disk is full. Until everything has come and is checked, nothing in
    the folder changes.
    """
    place = WorkspaceFolder(channel.root, request["project"])
    try:
        place.make(channel.root)
        with FileLock(place.lock, channel, f"workspace {place.project}", owner=request.get("owner")):
            return apply_locked(request, place, channel)
    except OSError as error:
        from flexrack_node.base.disk_room import unfit_disk  # only now: it would slow every sync

        raise unfit_disk(error, place.path) or NodeError(
            "NODE_UNFIT", f"cannot write {error.filename or place.path}: {error.strerror}"
        ) from error


def apply_locked(request: Mapping[str, Any], place: WorkspaceFolder, channel: Channel) -> "Applied":
    index = load_index(place)
    if index["revision"] != request["revision"]:
        raise NodeError(
            "CONFLICT", f"workspace {place.project} was changed by somebody else in the meantime", None, retry=True
        )
    put: Dict[str, Entry] = {
        check_path(path): (kind, digest, executable) for path, kind, digest, executable in request["put"]
    }
    remove = {check_path(path): None for path in request["remove"]}
    remove.update({path: None for path, (kind, _, _) in put.items() if kind == "d" and path in index["entries"]})
    receive(place, request["send"], unpack(channel.body) if request.get("packed") else read_all(channel.body))
    entries = index["entries"]
    for path in request["forget"]:
        entries.pop(path, None)
    with Tree(place.code) as tree:
        if not request.get("overwrite"):
            refuse_edits(place, tree, index, put, remove)
        for path, (kind, _digest, _executable) in put.items():
            obstacle = tree.obstacle(path, kind, remove)
            if obstacle is not None:
                raise blocked(place, obstacle, path)
        # From here on paths may be new, old or gone: without a stamp they are looked at again if we do not come to the
        # end.
        changing = [*request["forget"], *remove, *put]
        for path in [*remove, *put]:
            entries[path] = [*(entries.get(path) or ["", "", False])[:3], None]
        advance(place, index, changing, None)
        for path in sorted(remove, key=lambda one: -one.count("/")):
            tree.remove(path)
            del entries[path]
        tree.prune(list(remove))
        try:
            place_files(place, tree, put, entries)
        except Blocked as obstacle:  # made there within the last moment
            raise blocked(place, obstacle.path, obstacle.path) from obstacle
    advance(place, index, changing, request["tree"], durable=False)  # without it, these paths are only looked at again
    last: LastSync = {
        "owner": request.get("owner"),
        "source": request.get("source"),
        "at": int(time.time()),
        "files": len(entries),
    }
    write("workspace.sync", place.sync, last, durable=False)
    shutil.rmtree(place.staging)
    return {"revision": index["revision"], "path": str(place.code)}


def refuse_edits(
    place: WorkspaceFolder, tree: Tree, index: "Index", put: Dict[str, Entry], remove: Mapping[str, Any]
) -> None:
    """Raises CONFLICT where a file would go that is neither what sync left nor what comes: it was edited or made on the
    node. What was written at about the time of the last sync is read: its stamp may be of a moment before.
    """
    certain = index["written_ns"] - RACY_NS
    for path in [*put, *remove]:
        info = tree.stat(path)
        known = index["entries"].get(path)
        if info is None or (
            known is not None and (known[3] is None or (known[3] == stamp(info) and known[3][2] < certain))
        ):
            continue
        there = tree.read(path, info)
        last = (known[0], known[1]) if known is not None else None
        if there is None or there[0] == "d" or there[:2] in (last, put.get(path, GONE)[:2]):
            continue
        how = "was made" if known is None else "was edited"
        raise NodeError(
            "CONFLICT",
            f"{place.code / path} {how} on the node, and differs from what would take its place",
            f"flexrack workspace pull {path}    brings it\nflexrack workspace sync --overwrite    replaces it",
            path=path,
            edited=[path],
        )


def take_inventory(place: WorkspaceFolder, index: "Index", whole: bool) -> Any:
    """What is there now of all that is in the index (only what differs, if not `whole`); whether anything does; stamps
    to be renewed.
    """
    inventory: List[List[Any]] = []
    touched: Dict[str, List[int]] = {}
    changed = False
    certain = index["written_ns"] - RACY_NS
    with Tree(place.code) as tree:
        for path, (kind, digest, executable, known) in index["entries"].items():
            info = tree.stat(path)
            if info is None:
                changed = True
                inventory.append([path, *GONE])
                continue
            now = stamp(info)
            if kind == "d" or (now == known and now[2] < certain):
                real: Optional[Entry] = (kind, digest, executable) if kind != "d" else tree.read(path, info)
            else:
                real = tree.read(path, info)
                if real is not None and real == (kind, digest, executable):
                    touched[path] = now
            differs = real != (kind, digest, executable)
            changed = changed or differs
            if whole or differs:
                inventory.append([path, *(real or GONE)])
    return inventory, changed, touched


def edited_entries(index: "Index", inventory: List[List[Any]]) -> List[List[Any]]:
    """Of an inventory, the files that are not as sync left them, with what it left. One whose sync was cut short says
    nothing; nor does a mode alone.
    """
    found = []
    for path, kind, digest, _executable in inventory:
        last_kind, last_digest, executable, known = index["entries"][path]
        if known is not None and kind in ("f", "l") and (kind, digest) != (last_kind, last_digest):
            found.append([path, last_kind, last_digest, executable])
    return found


def refresh(place: WorkspaceFolder, index: "Index", touched: Dict[str, List[int]], channel: Channel) -> None:
    """Keeps the new stamps, so that the next comparison need not read these files; not worth waiting for."""
    try:
        with FileLock(place.lock, channel, "", wait=False):
            latest = load_index(place)
            if latest["revision"] == index["revision"]:
                for path, now in touched.items():
                    latest["entries"][path][3] = now
                renew(place, latest, touched)
    except NodeError:
        pass


def place_files(place: WorkspaceFolder, tree: Tree, put: Dict[str, Entry], entries: Dict[str, Any]) -> None:
    """Moves what was staged into place, each in one step."""
    uses: Dict[str, int] = {}
    for kind, digest, _ in put.values():
        uses[digest] = uses.get(digest, 0) + (kind == "f")
    for path, (kind, digest, executable) in sorted(put.items()):
        if kind == "d":
            tree.folder(path, create=True)
        else:
            uses[digest] -= kind == "f"
            beside = stage(place.staging, kind, digest, executable, last=uses[digest] == 0)
            tree.remove_folder(path)
            fd, name = tree.parent(path, create=True)
            before = os.lstat(beside)
            os.replace(beside, name, dst_dir_fd=fd)
            entries[path] = [kind, digest, executable, stamp_of_ours(before, tree.stat(path))]
            continue
        entries[path] = [kind, digest, executable, None]


def stamp_of_ours(before: os.stat_result, now: Optional[os.stat_result]) -> Optional[List[int]]:
    """The stamp of a file that was just moved into place: one that no file has, where somebody has written to it since,
    so that it is not taken for ours.
    """
    if now is None:
        return None
    is_ours = (before.st_ino, before.st_size, before.st_mtime_ns) == (now.st_ino, now.st_size, now.st_mtime_ns)
    return stamp(now) if is_ours else [-1, -1, -1, -1]


def stage(staging: Path, kind: str, digest: str, executable: bool, last: bool) -> Path:
    """A file or link ready to be moved into place. The same content may be wanted at several places."""
    beside = staging / "next"
    if kind == "l":
        beside.unlink(missing_ok=True)
        os.symlink(digest, beside)
        return beside
    if last:
        beside = staging / digest
    else:
        shutil.copyfile(staging / digest, beside)
    os.chmod(beside, 0o700 if executable else 0o600)
    return beside


def blocked(place: WorkspaceFolder, obstacle: str, path: str) -> NodeError:
    where = place.code / obstacle
    return NodeError(
        "CONFLICT",
        f"{where} is in the way of {path}: it was not put there by flexrack, and is left alone",
        f"move {obstacle} away on the node, or exclude it in workspace.sync.exclude",
        path=obstacle,
    )

"""Restores a snapshot, or a path of it: into a folder of its own, or over what the workspace has now, which is saved
before.

restic writes into folders of ours alone, never into a workspace: a link there could lead it
elsewhere. What goes into the workspace is moved there by name, folder by folder, and no link on the
way is followed.
"""

import filecmp
import os
import re
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.history.choice import Choice
from flexrack_node.history.compare import below
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.listing import escaped
from flexrack_node.history.restic import Restic
from flexrack_node.history.saving import BEFORE_RESTORE, chosen, hold, save
from flexrack_node.workspace.tree import Blocked, Tree

if TYPE_CHECKING:
    from flexrack_node.schema.history import RestoredFile


def fetch(
    place: HistoryFolder, restic: Restic, snapshot: Dict[str, Any], path: Optional[str], target: Path
) -> List[str]:
    """Into `target`, which is made.

    Returns the paths whose contents are damaged or gone: they are not there. Errors: NOT_FOUND
    where the snapshot has no such path; those of restic where nothing came.
    """
    target.mkdir(mode=0o700, parents=True)
    lost: List[str] = []
    try:
        try:
            words = ["--include", escaped(f"/{path}")] if path else []
            restic.run("--no-lock", "restore", snapshot["id"], "--target", str(target), *words)
        except NodeError as error:
            lost = lost_in(restic, target)
            if error.code not in ("CONFLICT", "REMOTE_FAILED") or not lost or not os.listdir(target):
                raise
        if path and not os.path.lexists(target / path):
            raise NodeError(
                "NOT_FOUND",
                f"the snapshot {snapshot['id'][:8]} of {place.project} has no {path}",
                f"flexrack workspace history {path}",
            )
        return lost
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def lost_in(restic: Restic, target: Path) -> List[str]:
    """What restic says it could not restore. It has made these files, with zeros for what is missing: they go."""
    found = []
    for value in restic.said:
        if isinstance(value, dict) and value.get("message_type") == "error" and isinstance(value.get("item"), str):
            found.append(value["item"])
    for line in restic.said_plainly:
        told_of = re.match(r"ignoring error for (/.*?): ", line)
        if told_of:
            found.append(told_of.group(1))
    lost = sorted({os.path.relpath(one, target) if one.startswith(f"{target}/") else one.lstrip("/") for one in found})
    for one in lost:
        file = target / one
        if not file.is_symlink() and file.is_file() and target in file.parents and ".." not in Path(one).parts:
            file.unlink()
    return lost


def beside(
    place: HistoryFolder, restic: Restic, snapshot: Dict[str, Any], path: Optional[str]
) -> Tuple[Path, List[str]]:
    """A new folder with it, and what of it is lost."""
    place.restored.mkdir(mode=0o700, exist_ok=True)
    for rest in place.restored.glob(".part-*"):  # of one that was killed
        if time.time() - rest.stat().st_mtime > 86400:
            shutil.rmtree(rest, ignore_errors=True)
    part = place.restored / f".part-{os.urandom(4).hex()}"
    lost = fetch(place, restic, snapshot, path, part)
    name = f"{time.strftime('%Y-%m-%dT%H.%M.%S', time.gmtime(snapshot['at']))}-{snapshot['id'][:8]}"
    for number in range(1, 1000):
        target = place.restored / (name if number == 1 else f"{name}.{number}")
        try:
            part.chmod(0o700)
            os.rename(part, target)  # over an empty folder it would go, too: nobody makes one there
            return target, lost
        except OSError:
            if not os.path.lexists(target):
                raise
    raise NodeError("CONFLICT", f"{place.restored} has too many of {name}", f"rm -r {place.restored}")


class InPlace:
    """Puts what a folder of ours has where the workspace has it. `plan` only looks."""

    def __init__(self, place: HistoryFolder, source: Path, path: Optional[str], choice: Choice, remove: bool) -> None:
        self.place, self.source, self.path, self.choice, self.remove = place, source, path, choice, remove
        self.code = place.workspace.code
        self.entries = [
            one for one in walk(source) if path is None or below(one[0], path) or path.startswith(f"{one[0]}/")
        ]
        self.views = {
            at
            for at, info in self.entries
            if stat.S_ISLNK(info.st_mode) and os.readlink(source / at) == str(self.code / at)
        }

    def plan(self) -> "List[RestoredFile]":
        """Errors: CONFLICT where something is in the way that is not saved, or a folder that is not empty."""
        found: List[RestoredFile] = []
        with Tree(self.code) as tree:
            for at, info in self.entries:
                if at in self.views:  # a run's view of data that lies in the workspace itself
                    continue
                kind = (
                    "d"
                    if stat.S_ISDIR(info.st_mode)
                    else "l"
                    if stat.S_ISLNK(info.st_mode)
                    else "f"
                    if stat.S_ISREG(info.st_mode)
                    else ""
                )
                if not kind:
                    continue
                obstacle = tree.obstacle(at, kind, {})
                if obstacle is not None:
                    raise NodeError(
                        "CONFLICT",
                        f"{self.code / obstacle} is in the way of {at}: the one is a folder and the other is not",
                        f"move {obstacle} away on the node",
                        path=obstacle,
                    )
                there = tree.stat(at)
                if kind == "d":
                    continue
                if there is None:
                    found.append({"path": at, "what": "made", "bytes": info.st_size})
                elif same(self.source / at, info, self.code / at, there):
                    continue
                elif self.choice.is_saved(at):
                    found.append({"path": at, "what": "replaced", "bytes": info.st_size})
                else:
                    raise NodeError(
                        "CONFLICT",
                        f"{self.code / at} would be replaced, and is not saved: it is excluded, or too large",
                        f"move {at} away on the node",
                        path=at,
                    )
            found += [{"path": at, "what": "removed", "bytes": self.choice.files[at].size} for at in self.extra()]
        return found

    def extra(self) -> List[str]:
        """What is saved now and was not there then."""
        if not self.remove:
            return []
        then = {at for at, _info in self.entries}
        return [
            at
            for at in self.choice.files
            if below(at, self.path) and at not in then and not any(at.startswith(f"{view}/") for view in self.views)
        ]

    def carry_out(self, files: "List[RestoredFile]") -> None:
        wanted = {one["path"]: one["what"] for one in files}
        with Tree(self.code) as tree:
            try:
                for at, info in self.entries:
                    if stat.S_ISDIR(info.st_mode):
                        if self.path is None or below(at, self.path):
                            tree.folder(at, create=True)
                    elif at in wanted:
                        tree.remove_folder(at)
                        fd, name = tree.parent(at, create=True)
                        os.replace(self.source / at, name, dst_dir_fd=fd)
            except Blocked as obstacle:
                raise NodeError(
                    "CONFLICT",
                    f"{self.code / obstacle.path} came in the way while it was restored",
                    "run the command again",
                ) from obstacle
            gone = [at for at, what in wanted.items() if what == "removed"]
            for at in gone:
                tree.remove(at)
            tree.prune(gone)
            # times and modes of folders last: what is put into one changes them
            for at, info in reversed(self.entries):
                if stat.S_ISDIR(info.st_mode) and (self.path is None or below(at, self.path)):
                    fd = tree.folder(at)
                    os.fchmod(fd, stat.S_IMODE(info.st_mode))
                    os.utime(fd, ns=(info.st_atime_ns, info.st_mtime_ns))


def over(
    place: HistoryFolder,
    restic: Restic,
    snapshot: Dict[str, Any],
    path: Optional[str],
    remove: bool,
    dry_run: bool,
    channel: Channel,
) -> "Tuple[List[RestoredFile], Optional[str]]":
    """What was changed, and the snapshot of what was there before. Errors: CONFLICT, LOCKED, NOT_FOUND."""
    workspace = place.workspace
    with FileLock(workspace.lock, channel, f"workspace {place.project}"), hold(place, channel) as lock:
        restic.lock = lock.fd
        for rest in workspace.path.glob(".restoring-*"):  # of one that was killed: nobody else is here
            shutil.rmtree(rest, ignore_errors=True)
        source = workspace.path / f".restoring-{os.urandom(4).hex()}"
        try:
            lost = fetch(place, restic, snapshot, path, source)
            if lost:
                more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
                raise NodeError(
                    "CONFLICT",
                    f"{lost[0]}{more} of that snapshot cannot be read any more",
                    "without --in-place, what can be read comes into a new folder",
                    lost=lost[:50],
                )
            files = InPlace(place, source, path, chosen(place), remove).plan()
            if dry_run or not files:
                return files, None
            before = save(place, restic, BEFORE_RESTORE)["snapshot"]
            work = InPlace(place, source, path, chosen(place), remove)  # looked at anew: the save took its time
            files = work.plan()
            work.carry_out(files)
            return files, before
        finally:
            shutil.rmtree(source, ignore_errors=True)


def walk(folder: Path) -> Iterator[Tuple[str, os.stat_result]]:
    """Everything below, folders before what is in them."""

    def inside(at: str) -> Iterator[Tuple[str, os.stat_result]]:
        for entry in sorted(os.scandir(folder / at if at else folder), key=lambda one: one.name):
            path = f"{at}/{entry.name}" if at else entry.name
            yield path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from inside(path)

    return inside("")


def same(one: Path, info: os.stat_result, other: Path, there: os.stat_result) -> bool:
    if stat.S_IFMT(info.st_mode) != stat.S_IFMT(there.st_mode):
        return False
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(one) == os.readlink(other)
    return (
        info.st_mode == there.st_mode
        and info.st_size == there.st_size
        and info.st_mtime_ns == there.st_mtime_ns
        and filecmp.cmp(one, other, shallow=False)
    )

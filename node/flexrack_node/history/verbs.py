"""history.list, .diff, .restore, .discard: what was saved, and bringing it back."""

import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.history import restoring
from flexrack_node.history.compare import contents_of, differences, told
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.listing import last_with, resolve, snapshots_of, versions_of
from flexrack_node.history.restic import Restic
from flexrack_node.history.saving import chosen
from flexrack_node.run.files import all_runs
from flexrack_node.service import control as services
from flexrack_node.workspace.tree import check_path

if TYPE_CHECKING:
    from flexrack_node.schema.history import (
        HistoryDiff,
        HistoryDiffed,
        HistoryDiscard,
        HistoryDiscarded,
        HistoryFound,
        HistoryQuestion,
        HistoryRestored,
        HistoryWish,
    )


def listing(given: "HistoryQuestion", channel: Channel) -> "HistoryFound":
    """{project, path?} -> what is saved and how it goes; the snapshots, or with a path the versions of it. Oldest
    first.
    """
    place = HistoryFolder(channel.root, given["project"])
    path = wanted(given.get("path"))
    state: Any = place.state()
    runs = runs_by_snapshot(place)
    there = place.exists()
    restic = Restic(place) if there else None
    snapshots = snapshots_of(place, restic) if restic else []
    if path and restic:
        versions = versions_of(place, restic, snapshots, path)
        if not any(one["what"] != "absent" for one in versions):
            raise NodeError("NOT_FOUND", f"no snapshot of {place.project} has {path}", "flexrack workspace history")
    else:
        versions = []
    service: Any = services.status({"id": place.service}, channel)
    return {
        "project": place.project,
        "path": str(place.path),
        "there": there,
        "every": place.settings().get("every"),
        "running": service["state"] in services.ALIVE,
        "now": time.time(),
        "looked_at": state.get("at"),
        "saved_at": state.get("saved_at"),
        "files": state.get("files"),
        "bytes": state.get("bytes"),
        "left": list(state.get("left") or []),
        "left_count": int(state.get("left_count") or 0),
        "unreadable": list(state.get("unreadable") or []),
        "error": state.get("error"),
        "hint": state.get("hint"),
        "damage": state.get("damage"),
        "snapshots": [
            {"id": one["id"], "at": one["at"], "kind": one["kind"], "runs": runs.get(one["id"], [])}
            for one in snapshots
        ],
        "versions": versions,
    }


def runs_by_snapshot(place: HistoryFolder) -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = {}
    if (place.root / "runs").is_dir():
        for run in all_runs(place.root):
            code: Any = run.spec().get("code") or {}
            if code.get("workspace") == place.project and code.get("snapshot"):
                found.setdefault(code["snapshot"], []).append(run.run)
    return found


def diff(given: "HistoryDiff", channel: Channel) -> "HistoryDiffed":
    """{project, at?, snapshot?, run?, path?, text}: what has changed since, down to lines where `text`."""
    place = HistoryFolder(channel.root, given["project"])
    path = wanted(given.get("path"))
    restic, snapshot = found(place, given)
    choice = chosen(place)
    changes = differences(place, restic, snapshot["id"], choice, path, given["text"])
    return {"snapshot": snapshot["id"], "at": snapshot["at"], "changes": changes}


def restore(given: "HistoryWish", channel: Channel) -> "HistoryRestored":
    """{project, at?, snapshot?, run?, path?, in_place, remove?, dry_run?} -> {snapshot, at, folder, files, before}.

    Into a new folder, which is `folder`; or over what the workspace has: `files` is what that
    changes, `before` the snapshot of what was there.
    """
    place = HistoryFolder(channel.root, given["project"])
    path = wanted(given.get("path"))
    restic, snapshot = found(place, given, path)
    answer: HistoryRestored = {
        "snapshot": snapshot["id"],
        "at": snapshot["at"],
        "folder": None,
        "files": [],
        "before": None,
        "count": 0,
        "bytes": 0,
        "lost": [],
    }
    if given["in_place"]:
        files, answer["before"] = restoring.over(
            place,
            restic,
            snapshot,
            path,
            bool(given.get("remove")),
            bool(given.get("dry_run")),
            channel,
        )
        answer["files"] = [{**one, "path": told(one["path"])} for one in files]
        return {**answer, "count": len(files), "bytes": sum(one["bytes"] for one in files)}
    if given.get("dry_run"):
        contents = contents_of(restic, snapshot["id"], path)
        if path and not contents:
            raise NodeError(
                "NOT_FOUND",
                f"the snapshot {snapshot['id'][:8]} of {place.project} has no {path}",
                f"flexrack workspace history {path}",
            )
        return {**answer, "count": len(contents), "bytes": sum(one.size for one in contents.values())}
    folder, lost = restoring.beside(place, restic, snapshot, path)
    came = [info for _path, info in restoring.walk(folder) if not stat.S_ISDIR(info.st_mode)]
    return {
        **answer,
        "folder": str(folder),
        "count": len(came),
        "bytes": sum(info.st_size for info in came),
        "lost": [told(one) for one in lost],
    }


def discard(given: "HistoryDiscard", channel: Channel) -> "HistoryDiscarded":
    """{project, folder}: removes what was restored into a folder of its own, once it has been fetched."""
    place = HistoryFolder(channel.root, given["project"])
    folder = place.restored / Path(given["folder"]).name
    if str(folder) != given["folder"] or folder.is_symlink():
        raise NodeError("BUG", f"{given['folder']} is none of {place.restored}")
    there = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    return {"removed": there}


def found(place: HistoryFolder, given: Any, path: Optional[str] = None) -> Any:
    """The repository, and the snapshot that is meant.

    `path`: what is to come back, where no moment is named the last of it that there is.
    """
    place.check_saved()
    restic = Restic(place)
    snapshots = snapshots_of(place, restic)
    name = given.get("snapshot")
    if path and not any(given.get(key) is not None for key in ("at", "snapshot", "run")):
        name = last_with(place, restic, snapshots, path)
    return restic, resolve(place, snapshots, given.get("at"), name, given.get("run"))


def wanted(path: Optional[str]) -> Optional[str]:
    return check_path(path) if path else None

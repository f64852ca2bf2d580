"""The snapshots of a workspace: all, or those in which a path has changed."""

import datetime
import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base.errors import NodeError
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.restic import Restic
from flexrack_node.run.files import RunFolder, run_path

if TYPE_CHECKING:
    from flexrack_node.schema.history import FileVersion

KINDS = ("autosave", "asked", "before-restore", "run")


def seconds_of(text: str) -> float:
    """restic's `2026-01-02T03:04:05.678901234Z`, with an offset where it ran in another time zone."""
    return nanoseconds_of(text) / 1e9


def nanoseconds_of(text: str) -> int:
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", text)
    if not found:
        return 0
    whole = datetime.datetime.fromisoformat(found.group(1) + ("+00:00" if found.group(3) == "Z" else found.group(3)))
    return int(whole.timestamp()) * 10**9 + int((found.group(2) or "0").ljust(9, "0"))


def snapshots_of(place: HistoryFolder, restic: Restic) -> List[Dict[str, Any]]:
    """{id, at, kind, folder}, oldest first; none where nothing was saved yet."""
    if not place.exists():
        return []
    found = []
    for one in flat(restic.run("--no-lock", "snapshots")):
        tags = one.get("tags") or []
        kind = next((tag for tag in tags if tag in KINDS), "autosave")
        found.append(
            {"id": one["id"], "at": seconds_of(one["time"]), "kind": kind, "folder": (one.get("paths") or [""])[0]}
        )
    return sorted(found, key=lambda one: one["at"])


def flat(lines: List[Any]) -> List[Any]:
    return [one for line in lines for one in (line if isinstance(line, list) else [line])]


def resolve(
    place: HistoryFolder,
    snapshots: List[Dict[str, Any]],
    at: "Optional[float]",
    name: Optional[str],
    run: Optional[str],
) -> Dict[str, Any]:
    """The snapshot that is meant: of a run, by the beginning of its id, the last one at a time, or
    the last. Errors: NOT_FOUND, USAGE for a beginning of several.
    """
    hint = "flexrack workspace history"
    if run is not None:
        name = snapshot_of_run(place, run)
    if name is not None:
        fitting = [one for one in snapshots if one["id"].startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise NodeError("USAGE", f"{name} is the beginning of {len(fitting)} snapshots", hint)
        raise NodeError("NOT_FOUND", f"the history of {place.project} has no snapshot {name[:12]}", hint)
    # What a restore has replaced is the last one only for who says a time: else the next restore
    # would bring back what that one was to replace.
    saved = [
        one
        for one in snapshots
        if one["kind"] != "run" and (one["kind"] != "before-restore" if at is None else one["at"] <= at)
    ]
    if not saved:
        raise NodeError(
            "NOT_FOUND",
            f"nothing of {place.project} was saved {'on this node yet' if at is None else 'until then'}",
            hint,
        )
    return saved[-1]


def snapshot_of_run(place: HistoryFolder, run: str) -> str:
    path = run_path(place.root, run)
    if not path.is_dir():
        raise NodeError("NOT_FOUND", f"this node has no run {run}", "flexrack runs show, which says where it was")
    code: Any = RunFolder(path).spec().get("code") or {}
    if code.get("workspace") != place.project:
        raise NodeError("NOT_FOUND", f"{run} is not a run of {place.project}")
    if not code.get("snapshot"):
        why = code.get("unsaved") or "workspace.autosave was off when it began"
        raise NodeError(
            "NOT_FOUND", f"what {run} ran was not saved: {why}", f"what is left of it is in {path / 'code'}"
        )
    return str(code["snapshot"])


def versions_of(
    place: HistoryFolder, restic: Restic, snapshots: List[Dict[str, Any]], path: str
) -> "List[FileVersion]":
    """The first snapshot of each content that a path had, by size, mode and time, and those in which
    it had gone. Runs' are left out: they repeat what was saved.
    """
    by_id = {one["id"]: one for one in snapshots}
    seen: Dict[str, Any] = {}
    for one in flat(restic.run("--no-lock", "find", escaped(f"/{path}"))):
        match = next((each for each in one.get("matches") or [] if each.get("path") == f"/{path}"), None)
        if match and one["snapshot"] in by_id:
            seen[one["snapshot"]] = match
    found: List[FileVersion] = []
    last: Any = None
    for snapshot in snapshots:
        if snapshot["kind"] == "run":
            continue
        match = seen.get(snapshot["id"])
        key = (match["type"], match.get("size"), match.get("permissions"), match.get("mtime")) if match else None
        if key == last:
            continue
        last = key
        found.append(
            {
                "id": snapshot["id"],
                "at": snapshot["at"],
                "kind": snapshot["kind"],
                "what": match["type"] if match else "absent",
                "bytes": int(match.get("size") or 0) if match else None,
                "changed_at": seconds_of(match["mtime"]) if match else None,
            }
        )
    return found


def last_with(place: HistoryFolder, restic: Restic, snapshots: List[Dict[str, Any]], path: str) -> Optional[str]:
    """The snapshot in which a path last changed, where it has gone by now: who deletes a file
    finds out after the next save. None: it is there, or never was.
    """
    versions = versions_of(place, restic, snapshots, path)
    return versions[-2]["id"] if versions and versions[-1]["what"] == "absent" else None


def escaped(path: str) -> str:
    """For filepath.Match of Go."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)

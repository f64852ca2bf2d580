"""Saves a workspace: one snapshot of what it has now, none where nothing has changed since the last one."""

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, cast

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import free_bytes, in_words
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.history.choice import LARGEST, Choice, exclusions
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.restic import Restic
from flexrack_node.workspace.changes import is_text

if TYPE_CHECKING:
    from flexrack_node.schema.history import LeftOutOfHistory, SavedNow

HOST = "flexrack"  # of all snapshots: a machine that is called otherwise next time goes on with the same
AUTOSAVE, ASKED, BEFORE_RESTORE, RUN = "autosave", "asked", "before-restore", "run"
MARGIN = 256 << 20  # bytes that a save leaves free
_SHOWN = 50


def chosen(place: HistoryFolder) -> Choice:
    settings = place.settings()
    return Choice(place.workspace, settings.get("exclude", []), settings.get("largest") or LARGEST)


def prepared(place: HistoryFolder, restic: Restic) -> None:
    """The repository, where there is none yet. Under the lock."""
    place.make()
    if not place.exists():
        restic.run("init")


def hold(place: HistoryFolder, channel: Channel, seconds: float = 3600) -> FileLock:
    """The history's lock. What holds it hands `fd` to restic."""
    return FileLock(place.lock, channel, f"history of {place.project}", seconds=seconds)


def save(place: HistoryFolder, restic: Restic, kind: str, always: bool = False) -> "SavedNow":
    """Under the lock, of which `restic` has the descriptor. Errors: those of Choice and restic; they stay in the state,
    too.
    """
    try:
        return _save(place, restic, kind, always)
    except NodeError as error:
        if error.code != "INTERRUPTED":
            place.tell(error=error.message, hint=error.hint, error_at=time.time())
        raise


def _save(place: HistoryFolder, restic: Restic, kind: str, always: bool) -> "SavedNow":
    choice = chosen(place)
    state = place.state()
    fingerprint, last = choice.fingerprint, state.get("snapshot")
    told: Dict[str, Any] = {
        "at": time.time(),
        "files": len(choice.files),
        "bytes": choice.bytes,
        "left": shown(choice),
        "left_count": len(choice.left),
        "error": None,
        "hint": None,
    }
    if not always and last and state.get("fingerprint") == fingerprint and place.has_snapshot(last):
        place.tell(**told)
        return {"snapshot": last, "made": False, "added": 0, "unreadable": list(state.get("unreadable") or [])}
    if choice.is_empty:  # restic saves no empty folder
        place.tell(**told, fingerprint=fingerprint)
        return {"snapshot": None, "made": False, "added": 0, "unreadable": []}
    need_margin(place)
    prepared(place, restic)
    with tempfile.NamedTemporaryFile(dir=place.path, prefix=".exclude-") as file:
        file.write(exclusions(place.workspace.code, choice.left))
        file.flush()
        done = back_up(restic, place.workspace.code, [kind], ["--exclude-file", file.name])
    told.update(saved_at=time.time(), snapshot=done["snapshot"], fingerprint=fingerprint, unreadable=done["unreadable"])
    place.tell(**told)
    return {"snapshot": done["snapshot"], "made": True, "added": done["added"], "unreadable": done["unreadable"]}


def back_up(restic: Restic, folder: Path, tags: Sequence[str], words: Sequence[str] = ()) -> Any:
    """{snapshot, added: bytes, unreadable: paths} of all that is in a folder.

    A lock that a killed restic has left does no harm to this, but to one that prunes.
    """
    summary: Dict[str, Any] = {}
    unreadable: List[str] = []

    def take(value: Any) -> None:
        if value.get("message_type") == "summary":
            summary.update(value)

    def run() -> None:
        # Errors come on stderr, which is read afterwards; 3: some could not be read, all others are saved.
        restic.run(
            "backup", "--host", HOST, "--tag", ",".join(tags), *words, ".", cwd=folder, fine=(0, 3), on_line=take
        )

    try:
        run()
    except NodeError as error:
        if error.code != "LOCKED":
            raise
        restic.run("unlock")
        run()
    snapshot = restic.place.whole_id(str(summary.get("snapshot_id") or ""))
    if not snapshot:
        raise NodeError("REMOTE_FAILED", "restic saved nothing and did not say why")
    for line in restic.said:
        item = line.get("item") if isinstance(line, dict) and line.get("message_type") == "error" else None
        if isinstance(item, str) and len(unreadable) < _SHOWN:
            unreadable.append(os.path.relpath(item, folder))
    return {"snapshot": snapshot, "added": int(summary.get("data_added") or 0), "unreadable": unreadable}


def need_margin(place: HistoryFolder) -> None:
    free = free_bytes(place.path.parent if place.path.parent.exists() else place.root)
    if free is not None and free < MARGIN:
        raise NodeError(
            "NODE_UNFIT",
            f"{in_words(free)} are free on this node, and a save leaves at least {in_words(MARGIN)}",
            "free some room: then it is saved again by itself",
        )


def shown(choice: Choice) -> "List[LeftOutOfHistory]":
    """What costs most first: what programs make is no news."""
    worth = sorted((one for one in choice.left if one.why != "program"), key=lambda one: -one.bytes)
    return [
        {"path": one.path, "why": cast(Any, one.why), "files": one.files, "bytes": one.bytes}
        for one in worth[:_SHOWN]
        if is_text(one.path)
    ]


def saved_now(
    place: HistoryFolder, channel: Channel, kind: str, always: bool = False, seconds: Optional[float] = None
) -> "SavedNow":
    """Takes the lock, and saves."""
    restic = Restic(place)
    place.make()
    with hold(place, channel, seconds or 3600) as lock:
        restic.lock = lock.fd
        return save(place, restic, kind, always)

"""Saves what a run is about to run: its own view of the code (workspace/frozen.py), which no rank has touched yet. Code
that a snapshot has already is not saved again.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.history.folder import HistoryFolder

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import KeptRunOrder

_LOCK_SECONDS = 60.0  # a run does not wait longer for somebody who saves or prunes


def with_snapshot(spec: "KeptRunOrder", path: Path, channel: Channel) -> "KeptRunOrder":
    """The spec with code.snapshot, or with code.unsaved, which says why there is none; unchanged where autosave is off.
    Nothing that goes wrong here keeps a run from starting.
    """
    code = spec.get("code")
    digest = code.get("digest") if code else None
    if not code or not digest:
        return spec
    place = HistoryFolder(channel.root, code["workspace"])
    try:
        if not place.is_on():
            return spec
        code["snapshot"] = saved(place, digest, path / "code", channel)
    except (NodeError, OSError) as error:
        code["unsaved"] = (
            error.message
            if isinstance(error, NodeError)
            else f"{error.filename or place.path}: {os.strerror(error.errno or 0)}"
        )
    return spec


def saved(place: HistoryFolder, digest: str, view: Path, channel: Channel) -> str:
    known = place.codes().get(digest)
    if known and place.has_snapshot(known):
        return known
    from flexrack_node.history.restic import Restic  # only here: a run whose code is known waits for none of it
    from flexrack_node.history.saving import RUN, back_up, hold, need_margin, prepared

    restic = Restic(place)
    tags = [RUN, f"code-{digest[:32]}"]
    need_margin(place)
    if not place.exists():
        with hold(place, channel, _LOCK_SECONDS) as lock:
            prepared(place, Restic(place, lock=lock.fd))
    try:
        done = back_up(restic, view, tags)  # beside who else saves, which may take its time: restic keeps them apart
    except NodeError as error:
        if error.code != "LOCKED":
            raise
        with hold(place, channel, _LOCK_SECONDS) as lock:  # somebody prunes
            done = back_up(Restic(place, lock=lock.fd), view, tags)
    if done["unreadable"]:
        raise NodeError("REMOTE_FAILED", f"{done['unreadable'][0]} could not be read")
    place.write_codes({**place.codes(), digest: done["snapshot"]})
    return str(done["snapshot"])

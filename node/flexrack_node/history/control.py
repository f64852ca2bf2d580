"""history.inspect, .on, .off, .save, .anew: whether a workspace is saved by itself; and saving it now."""

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.program_wheel import machine
from flexrack_node.base.stored import write
from flexrack_node.history import tool
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.restic import Restic, find, version_of
from flexrack_node.history.saving import ASKED, hold, prepared, saved_now
from flexrack_node.service import control as services
from flexrack_node.workspace import workspace

if TYPE_CHECKING:
    from flexrack_node.schema.history import (
        HistoryInspected,
        HistoryOff,
        HistoryOn,
        HistoryProject,
        HistoryRenewed,
        HistoryWanted,
        SavedNow,
    )
    from flexrack_node.schema.workspace import WorkspaceEnd, WorkspaceRemoved

KEEPER = Path(__file__).resolve().with_name("keeper.py")
_SECONDS = 10


def inspect(given: "HistoryProject", channel: Channel) -> "HistoryInspected":
    """{project} -> {settings, running, restic, lacks, why, hint}: `lacks` is the kind of machine whose restic is to be
    sent.
    """
    place = HistoryFolder(channel.root, given["project"])
    program = find(channel.root)
    problem = None if program else tool.why_not()
    settings = place.settings()
    service: Any = services.status({"id": place.service}, channel)
    return {
        "every": settings.get("every"),
        "exclude": settings.get("exclude", []),
        "largest": settings.get("largest"),
        "running": service["state"] in services.ALIVE,
        "restic": program,
        "lacks": None if program or problem else machine(),
        "why": problem[0] if problem else None,
        "hint": problem[1] if problem else None,
    }


def on(given: "HistoryWanted", channel: Channel) -> "HistoryOn":
    """{project, every, exclude, largest?}: a repository where there is none, and the service that
    saves. Again with other settings: it goes on with those.
    """
    place = HistoryFolder(channel.root, given["project"])
    restic = Restic(place)
    place.make()
    with hold(place, channel, 600) as lock:
        restic.lock = lock.fd
        prepared(place, restic)
        write(
            "history.settings",
            place.settings_file,
            {
                "every": given["every"],
                "exclude": given["exclude"],
                "largest": given.get("largest"),
            },
        )
    words = [sys.executable, "-I", "-S", str(KEEPER), str(channel.root), place.project]
    started: Any = services.start(
        {
            "id": place.service,
            "argv": words,
            "env": {},
            "cwd": str(place.path),
            "restart": {"max": 20, "window_seconds": 600},
            "grace": _SECONDS,
            "replace": True,
        },
        channel,
    )
    version = version_of(restic.program) or ()
    return {"comes_back": started["comes_back"], "restic": restic.program, "version": ".".join(map(str, version))}


def off(given: "HistoryProject", channel: Channel) -> "HistoryOff":
    """Ends the service; what was saved stays."""
    place = HistoryFolder(channel.root, given["project"])
    settings: Any = place.settings()
    if settings:
        settings["every"] = None
        write("history.settings", place.settings_file, settings)
    return {"stopped": services.stop({"id": place.service, "remove": True}, channel)["stopped"]}


def save(given: "HistoryProject", channel: Channel) -> "SavedNow":
    """A snapshot of what is there now; none where nothing has changed since the last one."""
    return saved_now(HistoryFolder(channel.root, given["project"]), channel, ASKED)


def anew(given: "HistoryProject", channel: Channel) -> "HistoryRenewed":
    """Puts the repository and its key aside, for who may still read it, and begins another one."""
    place = HistoryFolder(channel.root, given["project"])
    aside: Optional[Path] = None
    if not place.path.is_dir():
        raise NodeError(
            "NOT_FOUND",
            f"there is no history of {place.project} on this node",
            "set workspace.autosave in flexrack.yaml, then: flexrack workspace up",
        )
    with hold(place, channel, 600) as lock:
        aside = place.path / f"aside-{time.strftime('%Y-%m-%dT%H.%M.%S', time.gmtime())}-{os.urandom(2).hex()}"
        aside.mkdir(mode=0o700)
        for one in (place.repository, place.key, place.codes_file, place.state_file):
            if os.path.lexists(one):
                os.rename(one, aside / one.name)
        shutil.rmtree(place.cache, ignore_errors=True)
        prepared(place, Restic(place, lock=lock.fd))
    return {"aside": str(aside)}


def remove_workspace(given: "WorkspaceEnd", channel: Channel) -> "WorkspaceRemoved":
    """workspace.remove, after what is there was saved once more: its history stays, unless that is
    to go, too. Errors: those of a save, then nothing is removed.
    """
    place = HistoryFolder(channel.root, given["project"])
    if given.get("dry_run"):
        return workspace.remove(given, channel)
    if place.is_on() and place.workspace.code.is_dir() and not given.get("history"):
        try:
            saved_now(place, channel, ASKED)
        except NodeError as error:
            raise NodeError(
                error.code,
                f"{place.project} was not removed, as it could not be saved before: {error.message}",
                error.hint or "flexrack workspace remove --history    removes it with all that was saved of it",
            ) from error
    removed = workspace.remove(given, channel)
    if place.is_on():
        off({"project": place.project}, channel)
    if given.get("history"):
        shutil.rmtree(place.path, ignore_errors=True)
    return removed

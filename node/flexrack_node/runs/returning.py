"""Runs that a reboot of this node has cut off, and that go on: docs/adr/0039. What decides is in run/resumption.py; how
a supervisor comes back to its gang in gang/returning.py.
"""

import fcntl
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, List

from flexrack_node.base.boot import boot_id, boot_time
from flexrack_node.reservation.life import holder
from flexrack_node.run.files import RunFolder, all_runs
from flexrack_node.run.resumption import is_open, obstacle, was_cut

if TYPE_CHECKING:
    from flexrack_node.schema.service import ComesBack, RunOutlook

AWAITED_SECONDS = 900.0  # after the machine has begun, for what starts runs again to do so


def is_awaited(folder: RunFolder) -> bool:
    """Whether somebody is about to start its supervisor again: until then nothing is said of its end."""
    root = folder.path.parents[1]
    if (
        not is_open(folder)
        or folder.stop_request()
        or not (root / "boot" / "settings.json").exists()
        or folder.is_held()
        or not was_cut(folder.state())
    ):
        return False
    return _is_young(folder) or _is_resuming(root)


def outlook(root: Path, comes_back: "ComesBack") -> "List[RunOutlook]":
    """Of each run that is going on here: whether it would go on after a reboot of this node."""
    found: List[RunOutlook] = []
    if comes_back["by"] == "off":
        return found
    for folder in all_runs(root):
        if (folder.path / "result.json").exists() or not (folder.is_held() or is_awaited(folder)):
            continue
        why = obstacle(folder) or (
            f"nobody would start it: {comes_back['why']}" if comes_back["by"] == "none" else None
        )
        found.append({"run": folder.run, "project": folder.spec().get("project"), "goes_on": why is None, "why": why})
    return found


def _is_young(folder: RunFolder) -> bool:
    """Whether the machine has begun, or the shutdown was, a short time ago."""
    try:
        if folder.state().get("down") == boot_id():
            return time.time() - os.stat(folder.path / "state.json").st_mtime < AWAITED_SECONDS
        return _age_of_machine() < AWAITED_SECONDS
    except OSError:
        return False


def _age_of_machine() -> float:
    """Since its first process began: a container, too, has a boot of its own. Where that is hidden (hidepid of
    proc(5)), since the kernel did.
    """
    try:
        began = holder(1)["start"] / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        began = 0.0
    return boot_time() - began


def _is_resuming(root: Path) -> bool:
    try:
        with open(root / "boot" / "resuming") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True

"""Which snapshots stay: hourly 24, daily 14, weekly 8, and all of the last two hours; what a run has run, as long as
the run is there; what was before a restore, 14 days.

Once a day, with a look at a part of the data: all of it within two weeks.
"""

import os
from typing import Any, Dict, List, Set

from flexrack_node.base.errors import NodeError
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.listing import snapshots_of
from flexrack_node.history.restic import Restic
from flexrack_node.history.saving import BEFORE_RESTORE, RUN
from flexrack_node.run.files import all_runs

KEPT = ("--keep-within", "2h", "--keep-hourly", "24", "--keep-daily", "14", "--keep-weekly", "8")
EVERY = 86400.0
_UNDO_SECONDS = 14 * 86400
_YOUNG_SECONDS = 3600  # a run that is just being started has no file yet that names its snapshot
_PARTS = 14


def is_due(place: HistoryFolder, now: float) -> bool:
    return place.exists() and now - float(place.state().get("tidied_at") or 0) >= EVERY


def tidy(place: HistoryFolder, restic: Restic, now: float) -> None:
    """Under the lock. Errors: those of restic; what it says of damage stays in the state."""
    part = int(place.state().get("tidied_part") or 0) % _PARTS + 1
    place.tell(tidied_at=now, tidied_part=part)  # first: one that fails is not tried again at every save
    # The lock of one that was killed while it pruned keeps everybody else out.
    restic.run("unlock")
    snapshots = snapshots_of(place, restic)
    restic.run("forget", "--tag", "autosave", "--tag", "asked", "--group-by", "", *KEPT)
    unwanted = unwanted_of(snapshots, wanted_by_runs(place), now)
    if unwanted:
        restic.run("forget", *unwanted)
        place.write_codes({digest: one for digest, one in place.codes().items() if one not in unwanted})
    restic.run("prune", "--max-unused", "10%")
    try:
        restic.run("check", "--read-data-subset", f"{part}/{_PARTS}")
        place.tell(damage=None)
    except NodeError as error:
        if error.code in ("CONFLICT", "REMOTE_FAILED"):
            place.tell(damage=error.message)
        raise


def unwanted_of(snapshots: List[Dict[str, Any]], runs: Set[str], now: float) -> List[str]:
    """Pure."""
    return [
        one["id"]
        for one in snapshots
        if (one["kind"] == RUN and one["id"] not in runs and now - one["at"] > _YOUNG_SECONDS)
        or (one["kind"] == BEFORE_RESTORE and now - one["at"] > _UNDO_SECONDS)
    ]


def wanted_by_runs(place: HistoryFolder) -> Set[str]:
    """Snapshots that the runs of this node name."""
    found: Set[str] = set()
    if not os.path.isdir(place.root / "runs"):
        return found
    for run in all_runs(place.root):
        code: Any = run.spec().get("code") or {}
        if code.get("workspace") == place.project and code.get("snapshot"):
            found.add(code["snapshot"])
    return found

"""Waits for its supervisor to end. If that was not the planned end, it ends everything that was left behind.

reaper FOLDER      with a pipe on stdin whose other end only the supervisor holds; one byte means "all is well"
"""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional, cast

from flexrack_node.bucket.remotes import forget
from flexrack_node.link.gang_link import LinkLost, join
from flexrack_node.process.containment import Containment
from flexrack_node.rank.mpi import remove_scratch
from flexrack_node.reservation.hold import give_back
from flexrack_node.run.cause import was_cut_off
from flexrack_node.run.files import RunFolder, containment_tag

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangObserved, LaunchTrouble
    from flexrack_node.schema.result import RankRecord


def main(arguments: List[str]) -> int:
    folder = RunFolder(Path(arguments[0]))
    if sys.stdin.buffer.read(1):
        return 0
    died = time.time()
    left = sweep(folder)
    _speak(folder, died, left)
    return 0


def sweep(folder: RunFolder) -> List[int]:
    """Ends whatever is left of a run whose supervisor is dead; returns the pids that survived even that."""
    spec = folder.spec()
    left: List[int] = []
    for attempt in folder.attempts():
        contained = Containment(containment_tag(spec, attempt), folder.path, look_only=True)
        if contained.pids():
            folder.event("swept", attempt=attempt, pids=contained.pids(), by=os.getpid())
            left += contained.terminate(0)
        contained.close()
        remove_scratch(contained.tag)
    if not spec.get("after_reboot") and spec.get("scheduler") != "slurm":
        forget(folder.path)
    if spec.get("reservation") and not left and not folder.is_held():
        give_back(Path(spec["root"]), spec["reservation"])
    return left


def _cut_off(record: "RankRecord", down_at: Optional[float]) -> "RankRecord":
    if down_at is None or not was_cut_off(record, down_at):
        return record
    return cast("RankRecord", {key: value for key, value in record.items() if key not in ("exit", "ended", "signal")})


def _speak(folder: RunFolder, died: float, left: List[int]) -> None:
    """For the dead supervisor, so that the gang does not wait for it to come back: to the leader, or, if that is who
    died, to all others.
    """
    spec, state, attempts = folder.spec(), folder.state(), folder.attempts()
    if not attempts:
        return
    records = {
        str(rank): _cut_off(record, state.get("down_at")) for rank, record in folder.records(attempts[-1]).items()
    }
    trouble: LaunchTrouble = {"at": died, "message": "the supervisor was killed", "exit": None, "tail": []}
    observed: GangObserved = {
        "attempt": attempts[-1],
        "phase": "ended",
        "records": records,
        "survivors": left,
        "trouble": trouble,
        "gone": True,
        **({"unsaved": True} if spec.get("uploads") else {}),
    }
    if "down" in state:  # with the machine, in order
        trouble["message"] = f"{spec['node']} is lost: it shuts down"
        observed["lost"] = {"node": spec["node"], "kind": "reboot", "message": trouble["message"]}
    if state.get("leader", spec["nodes"][0]) == spec["node"]:
        from flexrack_node.link.peer import ask_all, place_of  # only here: a reaper is small as long as nothing happens

        places = {node: place_of(place) for node, place in state.get("places", {}).items() if node != spec["node"]}
        ask_all(
            places,
            {"gone": {"node": spec["node"], "observed": observed}},
            spec["gang"]["secret"],
            spec["node"],
            lambda: None,
        )
        return
    known = state.get("gang")
    gang = known or spec["gang"]
    try:
        link = join(gang["address"], gang["port"], spec["gang"]["secret"], spec["node"], timeout=5.0)
        link.send(observed)
        time.sleep(1.0)  # it must be read before the connection ends
        link.close()
    except (LinkLost, OSError):
        pass

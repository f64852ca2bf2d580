"""Waits for its supervisor to end. If that was not the planned end, it ends everything that was left behind.

    warden FOLDER      with a pipe on stdin whose other end only the supervisor holds; one byte means "all is well"
"""
import os
import sys
import time
from pathlib import Path
from typing import List

from flexrack_node.containment import Containment
from flexrack_node.gang_link import LinkLost, join
from flexrack_node.mpi import remove_scratch
from flexrack_node.reservation_hold import give_back
from flexrack_node.run_files import RunFolder, containment_tag


def main(arguments: List[str]) -> int:
    folder = RunFolder(Path(arguments[0]))
    if sys.stdin.buffer.read(1):
        return 0
    died = time.time()
    left = sweep(folder)
    _tell_leader(folder, died, left)
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
    if spec.get("reservation") and not left and not folder.is_held():
        give_back(Path(spec["root"]), spec["reservation"])
    return left


def _tell_leader(folder: RunFolder, died: float, left: List[int]) -> None:
    """Speaks for the dead supervisor of a member, so that the gang does not wait for it to come back."""
    spec, attempts = folder.spec(), folder.attempts()
    if spec["index"] == 0 or not attempts:
        return
    records = {str(rank): record for rank, record in folder.records(attempts[-1]).items()}
    trouble = {"at": died, "message": "the supervisor was killed", "exit": None, "tail": []}
    view = {"attempt": attempts[-1], "phase": "ended", "records": records, "survivors": left, "trouble": trouble, "gone": True}
    gang = spec["gang"]
    try:
        link = join(gang["address"], gang["port"], gang["secret"], spec["node"], timeout=5.0)
        link.send(view)
        time.sleep(1.0)  # the view must be read before the connection ends
        link.close()
    except (LinkLost, OSError):
        pass

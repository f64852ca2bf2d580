"""python3 history/keeper.py ROOT PROJECT: saves a workspace as often as its settings say, whether or not anybody is
connected. The service's supervisor keeps it running.

A save that fails is tried again when the next one is due; why it failed stays in state.json. Nothing is read where a
stat walk shows no change.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Optional

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.history import retention
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.history.restic import Restic
from flexrack_node.history.saving import AUTOSAVE, hold, save

_LOCK_SECONDS = 600.0
_NICE = 10


class Keeper:
    def __init__(self, place: HistoryFolder) -> None:
        self.place = place
        # What waits for a lock tells its caller; here that is the service's log.
        self.channel = Channel(place.root, place.root / "environments", sys.stdin.buffer)

    def run(self) -> int:
        """Until it is ended, or autosave is switched off."""
        while self.place.is_on():
            begun = time.time()
            self.once(begun)
            # By the clock on the wall: a machine that slept saves when it wakes.
            every = float(self.place.settings().get("every") or 600)
            while time.time() < begun + every and time.time() >= begun:
                time.sleep(min(5.0, max(0.05, begun + every - time.time())))
        return 0

    def once(self, now: float) -> None:
        try:
            restic = Restic(self.place)
            self.place.make()
            with hold(self.place, self.channel, _LOCK_SECONDS) as lock:
                restic.lock = lock.fd
                done = save(self.place, restic, AUTOSAVE)
                if done["made"] and done["snapshot"]:
                    print(f"[flexrack] saved {done['snapshot'][:8]}, {done['added']} bytes more", flush=True)
                if retention.is_due(self.place, now):
                    retention.tidy(self.place, restic, now)
        except NodeError as error:
            print(f"[flexrack] not saved: {error.message}", flush=True)
            self.place.tell(error=error.message, hint=error.hint, error_at=now)
        except OSError as error:
            print(f"[flexrack] not saved: {error}", flush=True)
            try:
                self.place.tell(error=str(error), hint=None, error_at=now)
            except OSError:
                pass  # the disk is full: the log has said it


def be_gentle() -> None:
    """After everybody else, for CPUs and for disks."""
    os.nice(_NICE)
    ionice = shutil.which("ionice")
    if ionice:
        subprocess.run(
            [ionice, "-c", "2", "-n", "7", "-p", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def main(root: str, project: str) -> int:
    os.umask(0o077)

    def stop(_number: int, _frame: Optional[FrameType]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    be_gentle()
    return Keeper(HistoryFolder(Path(root), project)).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

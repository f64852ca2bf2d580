"""The supervisor's side of a reservation: takes it over from the command line, keeps it alive, and gives it back with
the run.

Where it does not hold any more, no rank is started; where it is taken away while ranks run, they are ended. Where it
cannot be looked at, for seconds, it counts as taken away: the next owner may be there already.
"""

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional

from flexrack_node.base.boot import boot_time
from flexrack_node.base.errors import NodeError
from flexrack_node.reservation.life import holder
from flexrack_node.reservation.place import Place, open_place
from flexrack_node.reservation.record import current

if TYPE_CHECKING:
    from flexrack_node.reservation.record import Held

HOLD_TTL = 60.0  # seconds; counts only for those who cannot see our process
LOOK_SECONDS = 1.0  # between two looks whether it is still ours
_BEAT_SECONDS = 10.0
BLIND_SECONDS = 5.0  # in which it may be impossible to look: a file server hesitates, memory is short
LAST_RESORT_SECONDS = 5.0  # for `on_lost` to be done, whatever is in its way


class Hold:
    """A lease {lease, fence} that this process has. `take_over()` raises RESERVATION_LOST; `on_lost(why)` is called
    once, in a thread.
    """

    def __init__(self, root: Path, lease: "Held", on_lost: Callable[[str], None]) -> None:
        self._root, self._lease, self._on_lost = root, lease, on_lost
        self._place: Place = open_place(root)
        self._done = threading.Event()
        self._beaten = 0.0
        self._blind_since: Optional[float] = None
        self.wants: Any = None  # of the node, once it is taken over
        self.identity = ""  # of the node, as reservation.take tells it
        self.doubt = ""  # why it could not be looked at the last time

    def take_over(self) -> None:
        """The command line has confirmed it; from here on it lives as long as this process, or one of `add`."""
        with self._place.locked():
            record = current(self._place, self._lease, self._root)
            if record["state"] != "confirmed":
                raise NodeError(
                    "RESERVATION_LOST",
                    f"the reservation of {record['lease']} is {record['state']}, not confirmed",
                    "run the command again",
                )
            self.wants, self.identity = record["wants"], f"{record['boot']} {record['domain']}"
            self._place.write(
                {**record, "state": "running", "ttl": HOLD_TTL, "heartbeat": boot_time(), "holders": [holder()]}
            )
        self._beaten = boot_time()
        threading.Thread(target=self._keep, daemon=True).start()

    def add(self, pid: int) -> None:
        """Another process that ends after the ranks do, whatever becomes of this one."""
        with self._place.locked():
            record = current(self._place, self._lease, self._root)
            self._place.write({**record, "holders": [*record["holders"], holder(pid)]})

    def lost(self) -> Optional[str]:
        """Why it does not hold any more; None while it does, or could not be looked at for less than BLIND_SECONDS."""
        try:
            current(self._place, self._lease, self._root)
            self._blind_since = None
            return None
        except NodeError as error:
            return error.message
        except Exception as error:  # of the disk, of what stands in the record, or ours: none of them may end the watch
            self.doubt = str(error) or repr(error)
            since = self._blind_since = boot_time() if self._blind_since is None else self._blind_since
            blind = boot_time() - since
            return (
                f"the reservation of {self._lease['lease']} could not be looked at for {blind:.0f} s ({self.doubt})"
                if blind >= BLIND_SECONDS
                else None
            )

    def give_back(self) -> None:
        self._done.set()
        give_back(self._root, self._lease)

    def stand_back(self) -> None:
        """To its place in line: from here on others may have it, and who came later and does not wait may not. Never
        raises: where it was taken away, there is nothing to give.
        """
        self._done.set()
        with contextlib.suppress(NodeError, OSError), self._place.locked():
            record = current(self._place, self._lease, self._root)
            self._place.write({**record, "state": "waiting", "heartbeat": boot_time(), "ttl": HOLD_TTL, "holders": []})

    def _keep(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            why = self.lost()
            if self._done.is_set():
                return
            if why:
                self._tell(why)
                return
            if boot_time() - self._beaten > _BEAT_SECONDS:
                # A lock that cannot be had, or a full disk, is no loss: our process is seen to live.
                with contextlib.suppress(Exception):
                    self._beat()

    def _tell(self, why: str) -> None:
        """Where it cannot be told to the supervisor, that ends here and now: its reaper then ends the ranks."""

        import traceback

        until = boot_time() + LAST_RESORT_SECONDS
        while boot_time() < until and not self._done.is_set():
            try:
                return self._on_lost(why)
            except Exception:
                last = traceback.format_exc()
                self._done.wait(0.5)
        if not self._done.is_set():
            with contextlib.suppress(OSError):
                os.write(2, f"{why}; the supervisor ends, because it cannot be told: {last}".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    def _beat(self) -> None:
        with self._place.locked(1.0):
            record = current(self._place, self._lease, self._root)
            self._place.write({**record, "heartbeat": boot_time()})
        self._beaten = boot_time()


def give_back(root: Path, lease: "Held") -> None:
    """Removes the record, if it is still the one with this fence; never raises: what is left ends with its processes."""
    with contextlib.suppress(NodeError, OSError):
        place = open_place(root)
        with place.locked():
            record = place.read_own(lease["lease"], root)
            if record and record["fence"] == lease["fence"]:
                place.remove(record)


def check(root: Path, lease: "Held") -> None:
    """Raises RESERVATION_LOST where a supervisor could not take it over."""
    current(open_place(root), lease, root)

"""The end of a run that has declared how long it takes at most (`train.time_limit`): others may have passed for it."""

import time
from typing import TYPE_CHECKING

from flexrack_node.base.boot import boot_time
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import KeptRunOrder


class TimeLimit:
    """Counts from the start of the first leader. `resumed`: it goes on after a reboot, or under another leader; then it
    counts from when the run was made, by the wall clock, which is earlier.
    """

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", resumed: bool) -> None:
        self._folder, self._grace, self.seconds = folder, spec["grace"], spec.get("time_limit")
        passed = max(0.0, time.time() - spec["created"]) if resumed else 0.0
        self._end = None if self.seconds is None else boot_time() + self.seconds - passed

    def add(self, seconds: float) -> None:
        """It ends so much later."""
        if self._end is not None:
            self._end += seconds

    def apply(self) -> None:
        """Asks for the end where the time is over and nobody has asked before."""
        if self._end is not None and boot_time() >= self._end and not self._folder.stop_request():
            self._folder.write(
                "stop", {"grace": self._grace, "kill": False, "by": f"its time limit of {self.seconds:g} s"}
            )

"""The pause between two looks at what happens on a node: short while something does, longer in between. A supervisor
that is awake twenty times a second costs its node one per cent of a core and more, for as long as the training lasts.
"""

import threading
import time

QUICK = 0.05  # seconds
CALM = 0.25  # a rank that fails is seen so late at most; its gang has two seconds to end
_TOGETHER = 0.005  # for what comes at the same time from many nodes to be looked at once
_BUSY = 2.0  # of quick looks after the last change


class AdaptivePoll:
    """One thread pauses, any other wakes it."""

    def __init__(self) -> None:
        self._woken = threading.Event()
        self._busy_until = float("-inf")

    def wake(self) -> None:
        """There is news: the pause, this or the next one, is over at once."""
        self._woken.set()

    def pause(self, changed: bool) -> None:
        """`changed`: something happened since the last one. What is looked at afterwards is as new as every wake() that
        has ended the pause.
        """
        now = time.monotonic()
        if changed or self._woken.is_set():
            self._busy_until = now + _BUSY
        if self._woken.wait(QUICK if now < self._busy_until else CALM):
            time.sleep(_TOGETHER)
        self._woken.clear()

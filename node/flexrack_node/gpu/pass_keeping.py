"""Keeps passes of other nodes (gpu/passes.py) alive for as long as who has them lives: a notebook, a model server."""

import threading
import time
from typing import Any, Callable, Dict, List

from flexrack_node.gpu import held_passes

RENEW_SECONDS = 3600.0  # a pass lasts a day
_AGAIN_SECONDS = 300.0  # where a node was not reached
_ASK_SECONDS = 20.0


class PassKeeping:
    def __init__(self, places: Callable[[], List[Dict[str, Any]]]) -> None:
        """`places`: where there are passes now (gpu.json, GpuPlace)."""
        self._places = places
        self._next = 0.0
        self._thread = threading.Thread()

    def look(self) -> None:
        """Renews them where it is time to. Returns at once."""
        if time.monotonic() < self._next or self._thread.is_alive():
            return
        self._next = time.monotonic() + RENEW_SECONDS
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()

    def _renew(self) -> None:
        missed = held_passes.tell_all(self._places(), {"do": "renew"}, _ASK_SECONDS)
        if missed:
            self._next = time.monotonic() + _AGAIN_SECONDS
            print(f"[flexrack] GPUs of {', '.join(sorted(missed))} cannot be had now", flush=True)

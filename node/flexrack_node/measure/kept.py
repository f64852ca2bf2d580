"""What runs keep on this node, told to the head of the rack: POST /flexrack/v1/holdings/self, with a run's own token.

A run's supervisor looks at its start, now and then, and at its end: at all runs here of the same owner and project, so
that what was removed since counts no more. Only where a quota of the rack limits disk. docs/adr/0087.
"""

import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.measure.usage import account
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.order import TrackingOrder
    from flexrack_node.schema.runfiles import KeptRunOrder

PATH = "/flexrack/v1/holdings/self"
MOST_FILES = 1_000_000  # of one look: what is above that is not counted, rather than that the node is busy with it
_EVERY_SECONDS = 300.0
_REST = 50  # so many times as long as a look took nothing is looked at: 2 % of a core at most
_LONG_SECONDS = 2.0  # a look that takes longer is not worth waiting for at a run's end
_TIMEOUT = 5.0
_MOST_BYTES = 1 << 16


def kept_bytes(runs: Path, whose: Tuple[str, str]) -> int:
    """Bytes of all runs below `runs` of an owner in a project. Links are not followed; of a file with several links, e.g.
    one that a workspace shares with its runs, each counts for its part.
    """
    total, left = 0, MOST_FILES
    for name in _names(runs):
        if whose_of(RunFolder(runs / name)) != whose:
            continue
        for path, _folders, files in os.walk(runs / name):
            left -= len(files)
            if left < 0:
                return total
            for file in files:
                try:
                    status = os.lstat(os.path.join(path, file))
                except OSError:
                    continue  # it went meanwhile
                total += status.st_size // max(1, status.st_nlink)
    return total


class KeptWord:
    """Of one run on one node: `begin()`, then `end()` before its token ends."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", tracking: "TrackingOrder") -> None:
        from flexrack_node.run.upstream import upstream_of

        self._runs, self._node, self._whose = folder.path.parent, spec["node"], whose_is(spec)
        self._line = upstream_of(tracking).connect()
        self._lock = threading.Lock()  # of the line
        self._counts = False
        self._took = 0.0
        self._is_over = threading.Event()

    def begin(self) -> None:
        threading.Thread(target=self._go, daemon=True).start()

    def end(self) -> None:
        """A last look, where the head counts disk and a look is short. Never raises; takes a few seconds at most."""
        self._is_over.set()
        if not self._lock.acquire(timeout=_LONG_SECONDS):
            return  # it looks just now, and tells
        try:
            if self._counts and self._took <= _LONG_SECONDS:
                self._tell(self._look())
        finally:
            self._line.close()
            self._lock.release()

    def _go(self) -> None:
        while not self._is_over.is_set():
            with self._lock:
                self._counts = self._tell(None)
                if self._counts:
                    self._tell(self._look())
            self._is_over.wait(max(_EVERY_SECONDS, self._took * _REST))

    def _look(self) -> int:
        began = time.monotonic()
        size = kept_bytes(self._runs, self._whose)
        self._took = time.monotonic() - began
        return size

    def _tell(self, size: Optional[int]) -> bool:
        """Whether the head counts disk; False, too, where it does not answer, or knows nothing of this."""
        from flexrack_node.run.upstream import Away

        try:
            word = {"node": self._node, "owner": self._whose[0], "bytes": size}
            status, text = self._line.ask(PATH, word, _TIMEOUT, _MOST_BYTES)
            found = json.loads(text) if status == 200 else None
        except (Away, ValueError):
            return False
        return isinstance(found, dict) and found.get("counts") is True


def _names(runs: Path) -> List[str]:
    try:
        return [name for name in os.listdir(runs) if not name.startswith(".")]
    except OSError:
        return []


def whose_of(folder: RunFolder) -> Optional[Tuple[str, str]]:
    """Owner and project of a run that is there; None where its folder does not tell."""
    try:
        spec = folder.spec()
        return whose_is(spec) if spec.get("project") else None
    except (NodeError, OSError, ValueError):
        return None  # one that is being made or removed, or whose list was damaged


def whose_is(spec: "KeptRunOrder") -> Tuple[str, str]:
    return spec.get("owner") or account(), spec["project"]

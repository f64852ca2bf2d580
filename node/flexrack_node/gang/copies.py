"""Copies of the newest checkpoint on other nodes while the ranks train, so that it outlives the node that wrote it:
mostly that of rank 0.

Each node with ranks says now and then which whole checkpoint it has (`saved`), the leader names nodes that are to have
it too (`keep`), those fetch it (`kept`). A copy lies beside the outputs, where no rank sees it, until the attempt is
over; on an idle node nobody else writes, and it lies in the outputs at once.
"""

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Mapping, Optional, Sequence

from flexrack_node.link import checkpoint
from flexrack_node.link.gang_link import LinkLost
from flexrack_node.link.peer import fetch, place_of, remove
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import CheckpointFound, CheckpointToKeep, GangObserved
    from flexrack_node.schema.runfiles import KeptRunOrder

_LOOK_SECONDS = 5.0  # between two looks at what the ranks have saved


class Copies:
    """One node's side. Never blocks: looking and fetching are done in a thread."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder") -> None:
        self._folder, self._node, self._secret = folder, spec["node"], spec["gang"]["secret"]
        self._declared = spec.get("checkpoint")
        self._is_kept = copies_of(spec) > 0
        self._beside = folder.path / "copies"
        self._looked = float("-inf")
        self._worker: Optional[threading.Thread] = None
        self._saved: Optional[CheckpointFound] = None
        self._kept: Optional[CheckpointFound] = None
        self._in_outputs: Optional[str] = None  # the name of a copy that was put there
        self._unkept: Optional[CheckpointFound] = None

    def observed(self) -> "GangObserved":
        """`saved`, `kept` and `unkept`."""
        return {"saved": self._saved, "kept": self._kept, "unkept": self._unkept}

    def look(self) -> None:
        """While ranks run here."""
        if self._is_kept and not self._is_busy() and time.monotonic() - self._looked > _LOOK_SECONDS:
            self._looked = time.monotonic()
            self._start(self._find)

    def keep(self, needed: "CheckpointToKeep", is_idle: bool) -> None:
        """Fetches this checkpoint, or what has taken its name since; unless it is here or could not be had."""
        if not self._is_busy() and not _is_as_new(self._kept, needed) and not _is_as_new(self._unkept, needed):
            self._start(lambda: self._fetch(needed, is_idle))

    def in_outputs(self) -> "Optional[CheckpointFound]":
        """The copy, where it lies in the outputs."""
        return self._kept if self._kept and self._in_outputs == self._kept["name"] else None

    def adopt(self, outputs: Path, newest: "Optional[CheckpointFound]") -> "Optional[CheckpointFound]":
        """After an attempt: the copy is put to what the ranks left, where it is newer; returns the newest."""
        kept = self._kept
        if not kept or _is_as_new(newest, kept) or not checkpoint.has(self._beside, kept):
            return newest
        try:
            target = checkpoint.inside(outputs, kept["name"])
            target.parent.mkdir(parents=True, exist_ok=True)
            remove(target)
            os.replace(self._beside / kept["name"], target)
            return kept
        except (OSError, ValueError) as error:
            self._folder.event("copy not used", checkpoint=kept["name"], why=str(error))
            return newest

    def _is_busy(self) -> bool:
        return self._worker is not None and self._worker.is_alive()

    def _start(self, work: Callable[[], None]) -> None:
        self._worker = threading.Thread(target=work, daemon=True)
        self._worker.start()

    def _find(self) -> None:
        assert self._declared is not None
        try:
            self._saved = checkpoint.newest(self._folder.outputs, self._declared)
        except OSError:
            pass  # it changes under our eyes; the next look is soon

    def _fetch(self, needed: "CheckpointToKeep", is_idle: bool) -> None:
        base = self._folder.outputs if is_idle else self._beside
        before = self._in_outputs if is_idle else self._kept and self._kept["name"]
        try:
            base.mkdir(parents=True, exist_ok=True)
            kept = fetch(place_of(needed["place"]), self._secret, self._node, base, needed, exact=False)
            if not checkpoint.is_whole(
                base / kept["name"],
                self._declared.get("marker") if self._declared and (base / kept["name"]).is_dir() else None,
            ):
                raise ValueError("it is not whole")
            if before and before != kept["name"]:
                remove(checkpoint.inside(base, before))
        except (LinkLost, OSError, ValueError, KeyError, TypeError) as error:
            self._unkept = {"name": needed["name"], "at": needed["at"], "bytes": needed["bytes"]}
            self._folder.event("not copied", checkpoint=needed["name"], source=needed["node"], why=str(error))
            return
        if is_idle:
            self._in_outputs = kept["name"]
        self._kept = kept
        self._folder.event("copied", checkpoint=kept["name"], bytes=kept["bytes"], source=needed["node"])


def copies_of(spec: "KeptRunOrder") -> int:
    """On how many more nodes the newest checkpoint is to be: as the manifest says, else on one where the run can go on
    without a node.
    """
    declared, pool = spec.get("checkpoint"), len(spec["nodes"])
    if not declared or pool == 1 or spec.get("scheduler") == "slurm":
        return 0
    size = spec.get("size")
    goes_on = size is not None and size["min"] < pool
    return min(pool - 1, int(declared.get("copies", 1 if goes_on else 0)))


def choose(
    observations: "Mapping[str, GangObserved]", members: Sequence[str], copies: int
) -> "Optional[CheckpointToKeep]":
    """What is to be kept where: None for nothing. Pure. `observations`: of all nodes that can be used. Nodes that have
    an older copy are taken first, so that copies do not spread, then idle ones, because no rank needs their network.
    """
    found = [
        (saved, node)
        for node, observed in observations.items()
        for saved in [observed.get("saved")]
        if saved and observed.get("peer")
    ]
    if not found:
        return None
    newest, source = max(found, key=lambda one: one[0]["at"])
    having = [
        node
        for node, observed in observations.items()
        if observed.get("saved") == newest or _is_as_new(observed.get("kept"), newest)
    ]
    able = [
        node for node in observations if node not in having and not _is_as_new(observations[node].get("unkept"), newest)
    ]
    nodes = sorted(able, key=lambda node: (not observations[node].get("kept"), node in members))[
        : max(0, copies + 1 - len(having))
    ]
    return {**newest, "node": source, "place": observations[source]["peer"], "nodes": nodes} if nodes else None


def _is_as_new(one: "Optional[CheckpointFound]", as_other: "CheckpointFound") -> bool:
    return bool(one and one["at"] >= as_other["at"])

"""The leader's side of hangs: sees in the nodes' observations who is stalled, has all ranks of all nodes take their
stacks at about the same time, judges, tells.

A rank that waits in a collective is excused as long as another one that is not stalled may still come (evaluation on
rank 0 while the others stand at a barrier); not for ever (hang_watch: `long`), because two groups can block each other
while a third goes on.
"""

import time
from typing import TYPE_CHECKING, Any, List, Mapping, Optional

from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangObserved, RanksWatched
    from flexrack_node.schema.result import Cause
    from flexrack_node.schema.runfiles import KeptHang, KeptRunOrder
    from flexrack_node.schema.watch import Hang

_DUMP_PATIENCE = 15.0  # seconds for all nodes to hand in their stacks; py-spy needs some


class Hangs:
    """`tick` with the nodes' observations of the running attempt; `requested` is the number of the dump that every node
    is asked for.
    """

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", numbers: int = 0) -> None:
        """`numbers`: how many dumps another leader has asked for before."""
        self._folder = folder
        self.action = or_nothing(spec.get("hang")).get("action", "report")
        self._attempt = 0
        self._requested_at = 0.0
        self._is_reported = False  # this hang; again only after there was progress
        self._numbers = max(numbers, _last_number(folder))
        self.requested = 0
        self.cause: Optional[Cause] = None  # of the attempt, where it has to end for it

    def tick(self, attempt: int, observations: "Mapping[str, GangObserved]") -> bool:
        """True where the attempt is to be ended: then `cause` says why."""
        if attempt != self._attempt:
            self._attempt, self._is_reported, self.requested, self.cause = attempt, False, 0, None
        if self.cause:
            return True
        if self.requested and not self._is_reported:
            return self._collect(observations)
        if not is_hanging(observations):
            if self._is_reported and not any(_watch(observed)["stalled"] for observed in observations.values()):
                self._is_reported, self.requested = False, 0
                self._folder.event("hang over", attempt=attempt)
            return False
        if not self._is_reported:
            self._numbers += 1
            self.requested, self._requested_at = self._numbers, time.monotonic()
        return False

    def cause_in(self, attempt: int) -> "Optional[Cause]":
        """Why this attempt had to end, where that was a hang."""
        return self.cause if attempt == self._attempt else None

    def is_final(self, attempt: int) -> bool:
        """Nothing is started again after a hang in this attempt."""
        return self.action == "stop" and self.cause_in(attempt) is not None

    def _collect(self, observations: "Mapping[str, GangObserved]") -> bool:
        """Once every node has handed in, or one takes too long."""
        handed = {
            node: dumped
            for node, observed in observations.items()
            for dumped in [_watch(observed)["dumped"]]
            if dumped and dumped["number"] == self.requested
        }
        if len(handed) < len(observations) and time.monotonic() - self._requested_at < _DUMP_PATIENCE:
            return False
        from flexrack_node.watch.verdict import verdict  # only here: who looks at a run needs none

        self._is_reported = True
        ranks = [one for dumped in handed.values() for one in dumped["ranks"]]
        idle = {int(rank): seconds for dumped in handed.values() for rank, seconds in dumped["idle"].items()}
        ended = {
            record["rank"]: record["exit"]
            for observed in observations.values()
            for record in observed.get("records", {}).values()
            if "exit" in record
        }
        said = verdict(ranks, ended, idle)
        silent = sorted(set(observations) - set(handed))
        found: KeptHang = {
            "number": self.requested,
            "attempt": self._attempt,
            "at": time.time(),
            "action": self.action,
            **said,
            "silent": silent,
            "ranks": ranks,
        }
        write("run.hang", self._folder.path / f"hang-{self.requested}.json", found)
        self._folder.event(
            "hang",
            **{
                key: value
                for key, value in found.items()
                if key in ("number", "attempt", "action", "message", "seconds", "suspects", "lines", "silent")
            },
        )
        if self.action == "report":
            return False
        self.cause = cause_of(found)
        return True


def is_hanging(observations: "Mapping[str, GangObserved]") -> bool:
    """Somebody is stalled who does not only wait for one that still works."""
    stalled = [one for observed in observations.values() for one in _watch(observed)["stalled"].values()]
    if not stalled:
        return False
    watched = sum(len(_watch(observed)["watched"]) for observed in observations.values())
    return len(stalled) == watched or any(not one["waits"] or one["long"] for one in stalled)


def cause_of(hang: "KeptHang") -> "Cause":
    """A hang as the first cause of a failed attempt."""
    suspects = hang["suspects"]
    first = suspects[0] if suspects else None
    rank = first["rank"] if first else None
    node = first["node"] if first else (hang["ranks"][0]["node"] if hang["ranks"] else "")
    others = sorted(one["rank"] for one in hang["ranks"] if one["rank"] != rank)
    message = f"no progress for {hang['seconds']:.0f} s: {hang['message']}"
    return {
        "kind": "hang",
        "node": node,
        "rank": rank,
        "exit": None,
        "signal": None,
        "at": hang["at"],
        "message": message,
        "lines": hang["lines"],
        "others": others,
    }


def hangs(folder: RunFolder) -> "List[Hang]":
    """What was found in a run, oldest first, without the stacks: those are in hang-N.json."""
    found: List[Any] = [
        read("run.hang", folder.path / f"hang-{number}.json") for number in range(1, _last_number(folder) + 1)
    ]
    shown: Any = [{key: value for key, value in one.items() if key != "ranks"} for one in found if one]
    return list(shown)


def _watch(observed: "GangObserved") -> "RanksWatched":
    return observed.get("watch") or {"stalled": {}, "watched": [], "dumped": None}


def _last_number(folder: RunFolder) -> int:
    return len(list(folder.path.glob("hang-*.json")))

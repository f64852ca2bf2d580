"""The leader's side of hangs: sees in the nodes' views who is stalled, has all ranks of all nodes take their stacks at about the same time, judges, tells.

A rank that waits in a collective is excused as long as another one that is not stalled may still come (evaluation on rank 0 while the others stand at a barrier);
not for ever (hang_watch: `long`), because two groups can block each other while a third goes on.
"""
import time
from typing import Any, Dict, List, Mapping, Optional

from flexrack_node.run.files import RunFolder, read_json
from flexrack_node.watch.verdict import verdict

_DUMP_PATIENCE = 15.0  # seconds for all nodes to hand in their stacks; py-spy needs some


class Hangs:
    """`tick` with the nodes' views of the running attempt; `wanted` is the number of the dump that every node is asked for."""

    def __init__(self, folder: RunFolder, spec: Mapping[str, Any], numbers: int = 0) -> None:
        """`numbers`: how many dumps another leader has asked for before."""
        self._folder = folder
        self.action = (spec.get("hang") or {}).get("action") or "report"
        self._attempt = 0
        self._asked_at = 0.0
        self._is_told = False  # this hang; again only after there was progress
        self._numbers = max(numbers, _last_number(folder))
        self.wanted = 0
        self.cause: Optional[Dict[str, Any]] = None  # of the attempt, where it has to end for it

    def tick(self, attempt: int, views: Mapping[str, Mapping[str, Any]]) -> bool:
        """True where the attempt is to be ended: then `cause` says why."""
        if attempt != self._attempt:
            self._attempt, self._is_told, self.wanted, self.cause = attempt, False, 0, None
        if self.cause:
            return True
        if self.wanted and not self._is_told:
            return self._collect(views)
        if not is_hanging(views):
            if self._is_told and not any(_watch(view).get("stalled") for view in views.values()):
                self._is_told, self.wanted = False, 0
                self._folder.event("hang over", attempt=attempt)
            return False
        if not self._is_told:
            self._numbers += 1
            self.wanted, self._asked_at = self._numbers, time.monotonic()
        return False

    def cause_in(self, attempt: int) -> Optional[Dict[str, Any]]:
        """Why this attempt had to end, where that was a hang."""
        return self.cause if attempt == self._attempt else None

    def is_final(self, attempt: int) -> bool:
        """Nothing is started again after a hang in this attempt."""
        return self.action == "stop" and self.cause_in(attempt) is not None

    def _collect(self, views: Mapping[str, Mapping[str, Any]]) -> bool:
        """Once every node has handed in, or one takes too long."""
        handed = {node: _watch(view)["dumped"] for node, view in views.items() if (_watch(view).get("dumped") or {}).get("number") == self.wanted}
        if len(handed) < len(views) and time.monotonic() - self._asked_at < _DUMP_PATIENCE:
            return False
        self._is_told = True
        ranks = [one for dumped in handed.values() for one in dumped["ranks"]]
        idle = {int(rank): seconds for dumped in handed.values() for rank, seconds in dumped["idle"].items()}
        ended = {record["rank"]: record["exit"] for view in views.values() for record in view.get("records", {}).values() if "exit" in record}
        said = verdict(ranks, ended, idle)
        silent = sorted(set(views) - set(handed))
        found = {"number": self.wanted, "attempt": self._attempt, "at": time.time(), "action": self.action, **said, "silent": silent, "ranks": ranks}
        self._folder.write(f"hang-{self.wanted}", found)
        self._folder.event("hang", **{key: found[key] for key in ("number", "attempt", "action", "message", "seconds", "suspects", "lines", "silent")})
        if self.action == "report":
            return False
        self.cause = cause_of(found)
        return True


def is_hanging(views: Mapping[str, Mapping[str, Any]]) -> bool:
    """Somebody is stalled who does not only wait for one that still works."""
    stalled = [one for view in views.values() for one in (_watch(view).get("stalled") or {}).values()]
    if not stalled:
        return False
    watched = sum(len(_watch(view).get("watched") or []) for view in views.values())
    return len(stalled) == watched or any(not one["waits"] or one["long"] for one in stalled)


def cause_of(hang: Mapping[str, Any]) -> Dict[str, Any]:
    """A hang as the first cause of a failed attempt."""
    suspects: List[Mapping[str, Any]] = hang["suspects"]
    first = suspects[0] if suspects else None
    rank = first["rank"] if first else None
    node = first["node"] if first else (hang["ranks"][0]["node"] if hang["ranks"] else "")
    others = sorted(one["rank"] for one in hang["ranks"] if one["rank"] != rank)
    message = f"no progress for {hang['seconds']:.0f} s: {hang['message']}"
    return {"kind": "hang", "node": node, "rank": rank, "exit": None, "signal": None, "at": hang["at"], "message": message, "lines": hang["lines"], "others": others}


def hangs(folder: RunFolder) -> List[Dict[str, Any]]:
    """What was found in a run, oldest first, without the stacks: those are in hang-N.json."""
    found = [read_json(folder.path / f"hang-{number}.json") for number in range(1, _last_number(folder) + 1)]
    return [{key: value for key, value in one.items() if key != "ranks"} for one in found if one]


def _watch(view: Mapping[str, Any]) -> Mapping[str, Any]:
    return view.get("watch") or {}


def _last_number(folder: RunFolder) -> int:
    return len(list(folder.path.glob("hang-*.json")))
